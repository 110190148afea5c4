/**
 * How a number of the block was computed, written out, and the cells it was computed from.
 *
 * @typedef {{how: string, of: string[], rows: any[], rowNames: string[] | null, columnNames: string[] | null}} BlockStage
 * @typedef {{heads: number, name: string, stage: BlockStage, inputs: any}} BlockContext
 */

/** @import { Explanation, Numbers, Operation } from '../../drawings/explained.js' */
/** @import { Explained } from '../../text/chapter_text.js' */
/** @import { MatrixCell } from '../../text/slot_values.js' */

import { add, columnOf, dotProduct, explainStep, factor, product, relu, scores, softmax, twoDecimals, written } from '../../drawings/explained.js';

const WIDTH = 6;

/** A stage's matrices, one where it has no heads. @param {BlockStage} stage @returns {Numbers[]} */
const matricesOf = (stage) => (Array.isArray(stage.rows[0][0]) ? stage.rows : [stage.rows]);

/** Where the weights come from that are not drawn at random, as lesson/block.py fills them. @type {Record<string, string>} */
const WEIGHT_ORIGINS = {
  ...Object.fromEntries(['queries', 'keys', 'values', 'output'].map((part) => [
    `encoder.self.${part}_weights`, 'a weight chosen so that the example’s numbers come out; training would learn it',
  ])),
  ...Object.fromEntries(['first_weights', 'first_bias'].map((part) => [
    `encoder.feed_forward.${part}`, 'a weight that the example gives; training would learn it',
  ])),
  'output.weights': `a number of the embedding matrix, without the factor √${WIDTH}`,
};

/**
 * How each operation of lesson/forward_trace.py is explained, from matrices of the same head where they have heads.
 * @type {Record<string, (of: Numbers[], cell: MatrixCell, context: BlockContext) => Explanation>}
 */
const EXPLANATIONS = {
  add, product, scores, softmax, relu,
  given: (_, { row, column }, { name }) => {
    if (!name.endsWith('.positions')) {
      return { text: WEIGHT_ORIGINS[name] ?? 'a weight drawn at random; training would learn it', from: [] };
    }
    const wave = column % 2 ? 'cos' : 'sin';
    return { text: `$${wave}(${row} / 10000^(${column - (column % 2)}/${WIDTH}))$`, from: [] };
  },
  look_up: (_, { row, column }, { name, inputs }) => {
    const ids = name.startsWith('encoder') ? inputs.source : [0, ...inputs.answer.slice(0, -1)];
    return { text: `column ${column} in row ${ids[row]} of the embedding matrix, times √${WIDTH}`, from: [] };
  },
  heads: (of, { row, column, head }, { heads }) => product(of, { row, column: head * (WIDTH / heads) + column, head }),
  scale: ([a], cell, { heads }) => ({ text: `${twoDecimals(a[cell.row][cell.column])} / √${WIDTH / heads}`, from: [cell] }),
  mask: ([a], cell, { stage: { rowNames, columnNames } }) => ({
    text: cell.column > cell.row
      ? `“${columnNames[cell.column]}” comes after “${rowNames[cell.row]}”, which must not attend to it: `
        + `${twoDecimals(a[cell.row][cell.column])} is hidden`
      : `“${rowNames[cell.row]}” may attend to “${columnNames[cell.column]}”: unchanged`,
    from: [cell],
  }),
  mix: ([a, b], { row, column, head }) => ({ text: dotProduct(a[row], columnOf(b, column)), from: [{ head, row }, { head, column }] }),
  join: (_, { row, column }, { heads }) => {
    const width = WIDTH / heads;
    const [head, within] = [Math.floor(column / width), column % width];
    const text = heads === 1 ? 'unchanged: there is only one head' : `number ${within} of head ${head + 1}`;
    return { text, from: [{ row, column: within, head }] };
  },
  spread: ([a], { row, column }) => {
    const mean = a[row].reduce((sum, one) => sum + one) / a[row].length;
    const text = column === 0
      ? a[row].map(factor).join(' + ')
      : a[row].map((one) => `(${twoDecimals(one)} − ${factor(mean)})²`).join(' + ');
    return { text: `${column === 0 ? '' : '√'}[${text}] / ${a[row].length}`, from: [{ row }] };
  },
  norm: ([a, spread], { row, column }) => ({
    text: `(${twoDecimals(a[row][column])} − ${factor(spread[row][0])}) / ${twoDecimals(spread[row][1])}`,
    from: [{ row, column }, { row }],
  }),
  loss: ([a], { row }, { stage, inputs }) => ({
    text: `−ln ${a[row][inputs.answer[row]].toFixed(3)}, the probability of “${stage.rowNames[row]}”`,
    from: [{ row, column: inputs.answer[row] }],
  }),
};

/** What the tables of the two linear layers at the beginning are computed from, and how. @type {Record<string, [of: string[], how: Operation]>} */
const LAYERS = {
  inner: [['number', 'one_matrix'], product],
  linear: [['inner', 'other_matrix'], product],
  rectified: [['inner'], relu],
  with_relu: [['rectified', 'other_matrix'], product],
  at_once: [['number', 'one_matrix', 'other_matrix'], ([number, first, second], { row, column }) => ({
    text: `${twoDecimals(number[row][0])} · [${dotProduct(first[0], columnOf(second, column))}]`, from: [{ row }, {}, { column }],
  })],
};
/** @type {[of: string[], how: Operation]} */
const CHANGEABLE = [[], () => ({ text: 'a number that you can change', from: [] })];

/** @param {string} name of the stage @param {MatrixCell} cell @param {any} result @param {string} caption @returns {Explained} */
export function explain(name, cell, result, caption) {
  const { inputs } = result;
  /** @type {BlockStage} */
  const stage = result[name];
  if (!stage.how) return explainStep(LAYERS[name] ?? CHANGEABLE, name, cell, result, caption);
  const all = stage.of.map((other) => matricesOf(result[other]));
  const of = all.map((matrices) => matrices[Math.min(cell.head, matrices.length - 1)]);
  const where = [stage.rowNames?.[cell.row], stage.columnNames?.[cell.column]].filter(Boolean).join(' → ');
  return written(name, cell, `${caption}${where && `, ${where}`}`, matricesOf(stage)[cell.head][cell.row][cell.column], stage.of,
    EXPLANATIONS[stage.how](of, cell, { heads: inputs.heads, name, stage, inputs }));
}
