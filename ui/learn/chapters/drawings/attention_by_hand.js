/**
 * Attention by hand: how each number was computed, written out, and the cells that it was computed from.
 */

/** @import { Operation } from '../../drawings/explained.js' */
/** @import { Explained } from '../../text/chapter_text.js' */
/** @import { MatrixCell } from '../../text/slot_values.js' */

import { add, explainStep, factor, product, scores, softmax } from '../../drawings/explained.js';

/** @type {Operation} */
const scaled = ([a], { row, column }) => ({ text: `${factor(a[row][column])} / √2`, from: [{ row, column }] });
/** @type {Operation} */
const scaledScores = (of, cell) => {
  const { text, from } = scores(of, cell);
  return { text: `(${text}) / √2`, from };
};
/** @type {Operation} */
const joined = (_, { row, column }) => ({ text: `head ${column + 1}’s weighted sum`, from: [{ row, head: column }] });

/** What each table is computed from, and how. @type {Record<string, [of: string[], how: Operation]>} */
const STEPS = {
  'steps.queries': [['vectors', 'query_weights'], product],
  'steps.keys': [['vectors', 'key_weights'], product],
  'steps.values': [['vectors', 'value_weights'], product],
  'steps.scores': [['steps.queries', 'steps.keys'], scores],
  'steps.scaled': [['steps.scores'], scaled],
  'steps.weights': [['steps.scaled'], softmax],
  'steps.output': [['steps.weights', 'steps.values'], product],
  'masking.sum': [['scores', 'masking.mask'], add],
  'masking.weights': [['masking.sum'], softmax],
  'cross.scaled': [['cross_queries', 'cross_keys'], scaledScores],
  'cross.weights': [['cross.scaled'], softmax],
  'cross.output': [['cross.weights', 'cross_values'], product],
  'heads.joined': [['heads.mixed'], joined],
  'heads.output': [['heads.joined', 'output_weights'], product],
};

/** @param {string} name @param {MatrixCell} cell @param {any} result @param {string} caption @returns {Explained | null} */
export const explain = (name, cell, result, caption) => (STEPS[name] ? explainStep(STEPS[name], name, cell, result, caption) : null);
