/**
 * How a number of the walk came about, written out with numbers, and which cells it came from.
 *
 * @typedef {(number | null)[][]} BlockMatrix
 * @typedef {{name: string, how: string, of: string[], values: any[], rows: string[], columns: string[]}} BlockStage
 * @typedef {{row: number, column: number, head: number}} BlockPlace
 * @typedef {{of: BlockMatrix[], heads: number, place: BlockPlace, stage: BlockStage, given: any}} BlockMade `of`: what the
 *   stage was made from, of the same head where those have heads
 * @typedef {{text: string, from: ((place: BlockPlace) => boolean)[]}} BlockTold `from`: which cells of each of those
 */

import { factor, dotProduct } from '../explanation.js';
import { matrixNumber } from '../matrix.js';

const WIDTH = 6;

/** A stage's matrices, one where it has no heads. @param {BlockStage} stage @returns {BlockMatrix[]} */
export const matricesOf = (stage) => (Array.isArray(stage.values[0][0]) ? stage.values : [stage.values]);

const columnOf = (matrix, column) => matrix.map((row) => row[column]);
const twoDecimals = (number) => matrixNumber(number, 2);

/** What is asked of a cell: whether it is in this row, in this column, of this head; what is not named may be any. */
export const cellsWhere = (wanted) => (place) => Object.entries(wanted).every(([axis, value]) => place[axis] === value);

/** What each operation of lesson/forward_trace.py is told as. @type {Record<string, (made: BlockMade) => BlockTold>} */
const EXPLANATIONS = {
  given: ({ place: { row, column }, stage }) => {
    if (!stage.name.endsWith('.positions')) return { text: 'a weight: learned, not computed', from: [] };
    const wave = column % 2 ? 'cos' : 'sin';
    return { text: `${wave}(${row} / 10000^(${column - (column % 2)}/${WIDTH}))`, from: [] };
  },
  look_up: ({ place: { row, column }, stage, given }) => {
    const ids = stage.name.startsWith('encoder') ? given.source : [0, ...given.answer.slice(0, -1)];
    return { text: `column ${column} in row ${ids[row]} of the embedding matrix, times √${WIDTH}`, from: [] };
  },
  add: ({ of: [a, b], place: { row, column } }) => ({
    text: `${twoDecimals(a[row][column])} + ${factor(b[row][column])}`,
    from: [cellsWhere({ row, column }), cellsWhere({ row, column })],
  }),
  product: ({ of: [a, b, bias], place: { row, column } }) => ({
    text: dotProduct(a[row], columnOf(b, column)) + (bias ? ` + ${factor(bias[0][column])}` : ''),
    from: [cellsWhere({ row }), cellsWhere({ column }), cellsWhere({ column })],
  }),
  heads: ({ of: [a, b], heads, place: { row, column, head } }) => {
    const within = head * (WIDTH / heads) + column;
    const text = dotProduct(a[row], columnOf(b, within));
    return { text, from: [cellsWhere({ row }), cellsWhere({ column: within })] };
  },
  scores: ({ of: [a, b], place: { row, column, head } }) => ({
    text: dotProduct(a[row], b[column]),
    from: [cellsWhere({ head, row }), cellsWhere({ head, row: column })],
  }),
  scale: ({ of: [a], heads, place }) => ({
    text: `${twoDecimals(a[place.row][place.column])} / √${WIDTH / heads}`,
    from: [cellsWhere(place)],
  }),
  mask: ({ of: [a], place, stage: { rows, columns } }) => ({
    text: place.column > place.row
      ? `“${columns[place.column]}” comes after “${rows[place.row]}”, which must not attend to it: `
        + `${twoDecimals(a[place.row][place.column])} is hidden`
      : `“${rows[place.row]}” may attend to “${columns[place.column]}”: unchanged`,
    from: [cellsWhere(place)],
  }),
  softmax: ({ of: [a], place: { row, column, head } }) => {
    const powers = a[row].map((one) => `e^${factor(one)}`);
    return { text: `${powers[column]} / (${powers.join(' + ')})`, from: [cellsWhere({ head, row })] };
  },
  mix: ({ of: [a, b], place: { row, column, head } }) => ({
    text: dotProduct(a[row], columnOf(b, column)),
    from: [cellsWhere({ head, row }), cellsWhere({ head, column })],
  }),
  join: ({ heads, place: { row, column } }) => {
    const width = WIDTH / heads;
    const [head, within] = [Math.floor(column / width), column % width];
    const text = heads === 1 ? 'unchanged: there is only one head' : `number ${within} of head ${head + 1}`;
    return { text, from: [cellsWhere({ row, column: within, head })] };
  },
  spread: ({ of: [a], place: { row, column } }) => {
    const mean = a[row].reduce((sum, one) => sum + one) / a[row].length;
    const text = column === 0
      ? a[row].map(factor).join(' + ')
      : a[row].map((one) => `(${twoDecimals(one)} − ${factor(mean)})²`).join(' + ');
    return { text: `${column === 0 ? '' : '√'}[${text}] / ${a[row].length}`, from: [cellsWhere({ row })] };
  },
  norm: ({ of: [a, spread], place: { row, column } }) => ({
    text: `(${twoDecimals(a[row][column])} − ${factor(spread[row][0])}) / ${twoDecimals(spread[row][1])}`,
    from: [cellsWhere({ row, column }), cellsWhere({ row })],
  }),
  relu: ({ of: [a], place: { row, column } }) => ({
    text: `the larger of 0 and ${twoDecimals(a[row][column])}`,
    from: [cellsWhere({ row, column })],
  }),
  loss: ({ of: [a], place: { row }, stage, given }) => ({
    text: `−ln ${a[row][given.answer[row]].toFixed(3)}, the probability of “${stage.rows[row]}”`,
    from: [cellsWhere({ row, column: given.answer[row] })],
  }),
};

/**
 * @param {BlockStage} stage
 * @param {BlockPlace} place
 * @param {(name: string) => BlockStage} stageOf
 * @param {any} given what the walk was asked for
 * @returns {BlockTold}
 */
export function explain(stage, place, stageOf, given) {
  const all = stage.of.map((name) => matricesOf(stageOf(name)));
  const of = all.map((matrices) => matrices[Math.min(place.head, matrices.length - 1)]);
  return EXPLANATIONS[stage.how]({ of, heads: given.heads, place, stage, given });
}
