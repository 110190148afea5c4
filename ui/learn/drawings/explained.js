/**
 * How a number was computed, written out with the numbers that it was computed from, and the cells that hold these.
 *
 * @typedef {(number | null)[][]} Numbers null is minus infinity
 * @typedef {{text: string, from: Partial<MatrixCell>[]}} Explanation `text`: with formulas between dollar signs; `from`: the row,
 *   the column or the cell of each table that it was computed from
 * @typedef {(of: Numbers[], cell: MatrixCell) => Explanation} Operation
 */

/** @import { Explained } from '../text/chapter_text.js' */
/** @import { MatrixCell } from '../text/slot_values.js' */

import { valueOf } from '../text/slot_values.js';
import { matrixNumber } from './matrix.js';

/** @param {number | null} number */
export const twoDecimals = (number) => matrixNumber(number, 2);

/** @param {number | null} number in a term of a sum or product */
export const factor = (number) => `(${twoDecimals(number)})`;

/** @param {Numbers} matrix @param {number} column */
export const columnOf = (matrix, column) => matrix.map((row) => row[column]);

/** a·b, no product broken between two lines: (0.59)(−1.18) + … @param {(number | null)[]} left @param {(number | null)[]} right */
export const dotProduct = (left, right) => left.map((one, k) => `${factor(one)}\u2060${factor(right[k])}`).join(' + ');

/** One share of a softmax, with formulas between dollar signs. @param {(number | null)[]} scores @param {number} at */
export function softmaxShare(scores, at) {
  const powers = scores.map((one) => `e^${factor(one)}`);
  return `$${powers[at]}$ / ($${powers.join(' + ')}$)`;
}

/** A test for cells of a row, a column and a head; an axis left out matches all. @param {Partial<MatrixCell>} wanted */
export const cellsWhere = (wanted) => (/** @type {MatrixCell} */ cell) =>
  Object.entries(wanted).every(([axis, at]) => cell[/** @type {keyof MatrixCell} */ (axis)] === at);

/** a + b. @type {Operation} */
export const add = ([a, b], { row, column }) => ({
  text: `${twoDecimals(a[row][column])} + ${factor(b[row][column])}`, from: [{ row, column }, { row, column }],
});

/** a b, and + c where there is a third, a bias. @type {Operation} */
export const product = ([a, b, bias], { row, column }) => ({
  text: dotProduct(a[row], columnOf(b, column)) + (bias ? ` + ${factor(bias[0][column])}` : ''), from: [{ row }, { column }, { column }],
});

/** a bᵀ. @type {Operation} */
export const scores = ([a, b], { row, column, head }) => ({ text: dotProduct(a[row], b[column]), from: [{ head, row }, { head, row: column }] });

/** Of each row. @type {Operation} */
export const softmax = ([a], { row, column, head }) => ({ text: softmaxShare(a[row], column), from: [{ head, row }] });

/** @type {Operation} */
export const relu = ([a], { row, column }) => ({ text: `the larger of 0 and ${twoDecimals(a[row][column])}`, from: [{ row, column }] });

/**
 * What is said of a number, and the cells that are marked for it.
 * @param {string} name of its table @param {MatrixCell} cell @param {string} caption @param {number | null} number
 * @param {string[]} of the tables that it was computed from @param {Explanation} explanation @returns {Explained}
 */
export const written = (name, { row, column, head }, caption, number, of, { text, from }) => ({
  text: `${caption}: ${text} = ${twoDecimals(number)}`,
  lit: { ...Object.fromEntries(of.map((other, index) => [other, cellsWhere(from[index])])), [name]: cellsWhere({ row, column, head }) },
});

/** @param {[of: string[], how: Operation]} step how a table is computed @param {string} name @param {MatrixCell} cell @param {any} result @param {string} caption */
export const explainStep = ([of, how], name, cell, result, caption) =>
  written(name, cell, caption, valueOf(result, name)[cell.row][cell.column], of, how(of.map((one) => valueOf(result, one)), cell));
