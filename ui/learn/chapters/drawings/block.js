/**
 * How a number of the block was computed, written out, and the cells it was computed from.
 *
 * @typedef {{how: string, of: string[], rows: any[], rowNames: string[] | null, columnNames: string[] | null}} BlockStage
 * @typedef {{of: Numbers[], heads: number, cell: MatrixCell, name: string, stage: BlockStage, inputs: any}} BlockMade `of`:
 *   what the stage was made from, of the same head where those have heads
 * @typedef {{text: string, from: ((cell: MatrixCell) => boolean)[]}} BlockExplanation `text`: with formulas
 *   between dollar signs; `from`: which cells of each of those
 */

/** @import { Numbers } from '../../drawings/explained.js' */
/** @import { Explained } from '../../text/chapter_text.js' */
/** @import { MatrixCell } from '../../text/slot_values.js' */

import { cellsWhere, columnOf, dotProduct, factor, softmaxShare, twoDecimals } from '../../drawings/explained.js';

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

/** How each operation of lesson/forward_trace.py is explained. @type {Record<string, (made: BlockMade) => BlockExplanation>} */
const EXPLANATIONS = {
  given: ({ cell: { row, column }, name }) => {
    if (!name.endsWith('.positions')) {
      return { text: WEIGHT_ORIGINS[name] ?? 'a weight drawn at random; training would learn it', from: [] };
    }
    const wave = column % 2 ? 'cos' : 'sin';
    return { text: `$${wave}(${row} / 10000^(${column - (column % 2)}/${WIDTH}))$`, from: [] };
  },
  look_up: ({ cell: { row, column }, name, inputs }) => {
    const ids = name.startsWith('encoder') ? inputs.source : [0, ...inputs.answer.slice(0, -1)];
    return { text: `column ${column} in row ${ids[row]} of the embedding matrix, times √${WIDTH}`, from: [] };
  },
  add: ({ of: [a, b], cell: { row, column } }) => ({
    text: `${twoDecimals(a[row][column])} + ${factor(b[row][column])}`,
    from: [cellsWhere({ row, column }), cellsWhere({ row, column })],
  }),
  product: ({ of: [a, b, bias], cell: { row, column } }) => ({
    text: dotProduct(a[row], columnOf(b, column)) + (bias ? ` + ${factor(bias[0][column])}` : ''),
    from: [cellsWhere({ row }), cellsWhere({ column }), cellsWhere({ column })],
  }),
  heads: ({ of: [a, b], heads, cell: { row, column, head } }) => {
    const within = head * (WIDTH / heads) + column;
    return { text: dotProduct(a[row], columnOf(b, within)), from: [cellsWhere({ row }), cellsWhere({ column: within })] };
  },
  scores: ({ of: [a, b], cell: { row, column, head } }) => ({
    text: dotProduct(a[row], b[column]),
    from: [cellsWhere({ head, row }), cellsWhere({ head, row: column })],
  }),
  scale: ({ of: [a], heads, cell }) => ({
    text: `${twoDecimals(a[cell.row][cell.column])} / √${WIDTH / heads}`,
    from: [cellsWhere(cell)],
  }),
  mask: ({ of: [a], cell, stage: { rowNames, columnNames } }) => ({
    text: cell.column > cell.row
      ? `“${columnNames[cell.column]}” comes after “${rowNames[cell.row]}”, which must not attend to it: `
        + `${twoDecimals(a[cell.row][cell.column])} is hidden`
      : `“${rowNames[cell.row]}” may attend to “${columnNames[cell.column]}”: unchanged`,
    from: [cellsWhere(cell)],
  }),
  softmax: ({ of: [a], cell: { row, column, head } }) => ({
    text: softmaxShare(a[row], column),
    from: [cellsWhere({ head, row })],
  }),
  mix: ({ of: [a, b], cell: { row, column, head } }) => ({
    text: dotProduct(a[row], columnOf(b, column)),
    from: [cellsWhere({ head, row }), cellsWhere({ head, column })],
  }),
  join: ({ heads, cell: { row, column } }) => {
    const width = WIDTH / heads;
    const [head, within] = [Math.floor(column / width), column % width];
    const text = heads === 1 ? 'unchanged: there is only one head' : `number ${within} of head ${head + 1}`;
    return { text, from: [cellsWhere({ row, column: within, head })] };
  },
  spread: ({ of: [a], cell: { row, column } }) => {
    const mean = a[row].reduce((sum, one) => sum + one) / a[row].length;
    const text = column === 0
      ? a[row].map(factor).join(' + ')
      : a[row].map((one) => `(${twoDecimals(one)} − ${factor(mean)})²`).join(' + ');
    return { text: `${column === 0 ? '' : '√'}[${text}] / ${a[row].length}`, from: [cellsWhere({ row })] };
  },
  norm: ({ of: [a, spread], cell: { row, column } }) => ({
    text: `(${twoDecimals(a[row][column])} − ${factor(spread[row][0])}) / ${twoDecimals(spread[row][1])}`,
    from: [cellsWhere({ row, column }), cellsWhere({ row })],
  }),
  relu: ({ of: [a], cell: { row, column } }) => ({
    text: `the larger of 0 and ${twoDecimals(a[row][column])}`,
    from: [cellsWhere({ row, column })],
  }),
  loss: ({ of: [a], cell: { row }, stage, inputs }) => ({
    text: `−ln ${a[row][inputs.answer[row]].toFixed(3)}, the probability of “${stage.rowNames[row]}”`,
    from: [cellsWhere({ row, column: inputs.answer[row] })],
  }),
};

/** What the two linear layers at the beginning are computed from. @type {Record<string, [left: string, right: string]>} */
const PRODUCTS = { inner: ['number', 'one_matrix'], linear: ['inner', 'other_matrix'], with_relu: ['rectified', 'other_matrix'] };

/** @param {string} name @param {MatrixCell} cell @param {any} result @returns {{text: string, lit: Record<string, (cell: MatrixCell) => boolean>}} */
function twoLayers(name, { row, column }, result) {
  const { number, one_matrix: first, other_matrix: second } = result.inputs;
  const [left, right] = PRODUCTS[name] ?? [];
  if (left) {
    const [a, b] = [left, right].map((one) => result.inputs[one] ?? result[one]);
    return { text: dotProduct(a[row], columnOf(b, column)), lit: { [left]: cellsWhere({ row }), [right]: cellsWhere({ column }) } };
  }
  if (name === 'rectified') {
    return { text: `the larger of 0 and ${twoDecimals(result.inner[row][column])}`, lit: { inner: cellsWhere({ row, column }) } };
  }
  if (name === 'at_once') {
    return { text: `${twoDecimals(number[row][0])} · [${dotProduct(first[0], columnOf(second, column))}]`, lit: {} };
  }
  return { text: 'a number that you can change', lit: {} };
}

/** @param {string} name of the stage @param {MatrixCell} cell @param {any} result @param {string} caption @returns {Explained} */
export function explain(name, cell, result, caption) {
  const { inputs } = result;
  /** @type {BlockStage} */
  const stage = result[name];
  if (!stage.how) {
    const { text, lit } = twoLayers(name, cell, result);
    const value = twoDecimals(result[name][cell.row][cell.column]);
    return { text: `${caption}: ${text} = ${value}`, lit: { ...lit, [name]: cellsWhere({ row: cell.row, column: cell.column }) } };
  }
  const all = stage.of.map((other) => matricesOf(result[other]));
  const of = all.map((matrices) => matrices[Math.min(cell.head, matrices.length - 1)]);
  const { text, from } = EXPLANATIONS[stage.how]({ of, heads: inputs.heads, cell, name, stage, inputs });
  const where = [stage.rowNames?.[cell.row], stage.columnNames?.[cell.column]].filter(Boolean).join(' → ');
  const value = twoDecimals(matricesOf(stage)[cell.head][cell.row][cell.column]);
  return {
    text: `${caption}${where && `, ${where}`}: ${text} = ${value}`,
    lit: { ...Object.fromEntries(stage.of.map((other, index) => [other, from[index]])), [name]: cellsWhere(cell) },
  };
}
