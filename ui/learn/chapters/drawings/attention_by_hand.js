/**
 * Attention by hand: how each number was computed, written out, and the cells that it was computed from.
 *
 * @typedef {{text: string, lit: Record<string, Partial<MatrixCell>>}} HandExplanation `lit`: the row, the column or the cell that
 *   is marked in each table
 */

/** @import { Numbers } from '../../drawings/explained.js' */
/** @import { Explained } from '../../text/chapter_text.js' */
/** @import { MatrixCell } from '../../text/slot_values.js' */

import { cellsWhere, columnOf, dotProduct, factor, softmaxShare, twoDecimals } from '../../drawings/explained.js';
import { valueOf } from '../../text/slot_values.js';

/** A row of one table times a column of another. @returns {(of: Record<string, Numbers>, cell: MatrixCell) => HandExplanation} */
const timesColumn = (/** @type {string} */ left, /** @type {string} */ right) => (of, { row, column }) => ({
  text: dotProduct(of[left][row], columnOf(of[right], column)), lit: { [left]: { row }, [right]: { column } },
});
const timesRow = (/** @type {string} */ left, /** @type {string} */ right, /** @type {string} */ after = '') =>
  (/** @type {Record<string, Numbers>} */ of, /** @type {MatrixCell} */ { row, column }) => ({
    text: after ? `(${dotProduct(of[left][row], of[right][column])})${after}` : dotProduct(of[left][row], of[right][column]),
    lit: { [left]: { row }, [right]: { row: column } },
  });
const softmaxOf = (/** @type {string} */ scores) => (/** @type {Record<string, Numbers>} */ of, /** @type {MatrixCell} */ { row, column }) =>
  ({ text: softmaxShare(of[scores][row], column), lit: { [scores]: { row } } });

/** @type {Record<string, (of: any, cell: MatrixCell) => HandExplanation>} */
const EXPLANATIONS = {
  'steps.queries': timesColumn('vectors', 'query_weights'),
  'steps.keys': timesColumn('vectors', 'key_weights'),
  'steps.values': timesColumn('vectors', 'value_weights'),
  'steps.scores': timesRow('steps.queries', 'steps.keys'),
  'steps.scaled': (of, { row, column }) => ({ text: `${factor(of['steps.scores'][row][column])} / √2`, lit: { 'steps.scores': { row, column } } }),
  'steps.weights': softmaxOf('steps.scaled'),
  'steps.output': timesColumn('steps.weights', 'steps.values'),
  'masking.sum': (of, { row, column }) => ({
    text: `${factor(of.scores[row][column])} + ${factor(of['masking.mask'][row][column])}`,
    lit: { scores: { row, column }, 'masking.mask': { row, column } },
  }),
  'masking.weights': softmaxOf('masking.sum'),
  'cross.scaled': timesRow('cross_queries', 'cross_keys', ' / √2'),
  'cross.weights': softmaxOf('cross.scaled'),
  'cross.output': timesColumn('cross.weights', 'cross_values'),
  'heads.joined': (of, { row, column }) => ({ text: `head ${column + 1}’s weighted sum`, lit: { 'heads.mixed': { row, head: column } } }),
  'heads.output': timesColumn('heads.joined', 'output_weights'),
};

/** @param {string} name @param {MatrixCell} cell @param {any} result @param {string} caption @returns {Explained | null} */
export function explain(name, cell, result, caption) {
  if (!EXPLANATIONS[name]) return null;
  const of = new Proxy({}, { get: (_, key) => valueOf(result, String(key)) });
  const { text, lit } = EXPLANATIONS[name](of, cell);
  const value = twoDecimals(valueOf(result, name)[cell.row][cell.column]);
  const marks = Object.entries({ ...lit, [name]: { row: cell.row, column: cell.column } });
  return {
    text: `${caption}: ${text} = ${value}`,
    lit: Object.fromEntries(marks.map(([table, wanted]) => [table, cellsWhere(wanted)])),
  };
}
