/**
 * How a number was computed, written out: the terms of a product and of a softmax, and which cells of a table they come from.
 *
 * @typedef {(number | null)[][]} Numbers null is minus infinity
 */

/** @import { MatrixCell } from '../text/slot_values.js' */

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
