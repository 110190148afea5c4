/**
 * A weighted sum of words, as in lesson/attention/weighted_sum.py and lesson/recurrence/by_hand.py. The last part, whose
 * vectors are random, is recorded.
 */

/** @import { Section } from '../answers.js' */

import { checkMatrices, checkNumber, checkText, decimals, dot, dotTerms, labels, product, roundedRows, short, softmax, transposed, vector } from './numbers.js';

const TABLES = ['weighted', 'query', 'states', 'query_weights', 'state_weights', 'score_weights'];
const DIGITS = 6; // a table of four decimals shows all of them

/** @type {Section[]} */
export const sections = [
  {
    inputs: ['pair', 'similarities', 'vectors'],
    compute(inputs, { own }) {
      const { pair, similarities, vectors } = inputs;
      checkText(pair, 'The text', 60);
      checkMatrices(['similarities', 'vectors'], inputs, own);
      const [near] = similarities, sum = near.reduce((all, one) => all + one, 0);
      if (near[0] < 0 || Math.min(...near) < 0 || sum <= 0) {
        throw new Error(`The similarities are ${near.join(' and ')}, but division by their sum needs numbers that are not negative and not all zero: change them. Only softmax can use any numbers.`);
      }
      const words = labels(pair, vectors.length);
      return { pair: words.join(' '), word: words[0], division: mixed(near.map((one) => one / sum), vectors), softmax: mixed(softmax(near), vectors) };
    },
  },
  {
    inputs: ['six', 'six_vectors', 'asking'],
    compute(inputs, { own }) {
      const { six, six_vectors: rows, asking } = inputs;
      checkText(six, 'The text', 80);
      checkMatrices(['six_vectors'], inputs, own);
      checkNumber('asking', asking, 1, rows.length);
      const words = labels(six, rows.length), scores = rows.map((row) => dot(rows[asking - 1], row)), weights = softmax(scores);
      return {
        six: words.join(' '),
        askers: words.map((word, index) => [index + 1, word]),
        asker: words[asking - 1],
        six_scored: scored(scores, rows),
        six_score: `${dotTerms(rows[asking - 1], rows[0])} = ${short(scores[0])}`,
        six_first: words[0],
        six_sum: weights.map((weight, index) => `${decimals(weight)} · ${words[index]}`).join(' + '),
      };
    },
  },
  {
    inputs: TABLES,
    compute(inputs, { own }) {
      checkMatrices(TABLES, inputs, own);
      const { weighted, query: [query], states, query_weights: W, state_weights: U, score_weights: [v] } = inputs;
      const products = weighted.map(([weight, ...state]) => state.map((one) => weight * one));
      const terms = weighted.map(([weight, ...state]) => `${short(weight)} · ${vector(state)}`).join(' + ');
      const context = transposed(products).map((column) => column.reduce((sum, one) => sum + one, 0));
      const dots = states.map((state) => dot(query, state)), [projection] = product([query], transposed(W));
      const added = product(states, transposed(U)).map((state) => dot(v, state.map((one, index) => Math.tanh(projection[index] + one))));
      return {
        score_sum: `${dotTerms(query, states[0])} = ${short(dots[0])}`,
        products: roundedRows(products),
        context_sum: `${terms} = ${products.map((one) => vector(one)).join(' + ')} = ${vector(context)}`,
        dot: scored(dots, states),
        additive: scored(added, states),
      };
    },
  },
];

/** @param {number[]} weights @param {number[][]} vectors */
function mixed(weights, vectors) {
  const [sum] = product([weights], vectors), terms = weights.map((weight, index) => `${decimals(weight)} · ${vector(vectors[index])}`);
  return { weights: roundedRows([weights]), vector: roundedRows([sum]), sum: `${terms.join(' + ')} = ${vector(sum, 2)}` };
}

/** @param {number[]} scores @param {number[][]} values */
function scored(scores, values) {
  const weights = softmax(scores);
  return { scores: roundedRows([scores], DIGITS), weights: roundedRows([weights], DIGITS), context: roundedRows(product([weights], values), DIGITS) };
}
