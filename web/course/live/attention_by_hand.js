/**
 * Attention by hand, as in lesson/attention/by_hand.py: queries, keys and values, a soft dictionary, masks, cross-attention,
 * heads and rotary positions.
 */

/** @import { Section } from '../answers.js' */

import { checkChoice, checkMatrices, checkNumber, checkText, decimals, dot, dotTerms, labels, product, roundedRows, short, softmax, transposed, vector } from './numbers.js';

const DIGITS = 6;
const POSITIONS = 6; // of rotary ones

/** @typedef {{queries: number[][], keys: number[][], values: number[][], scores: number[][], scaled: number[][], weights: number[][], output: number[][]}} Steps */

/** @param {number[][]} queries @param {number[][]} keys @param {number[][]} values @returns {Steps} */
function attention(queries, keys, values) {
  const scores = product(queries, transposed(keys)), scaled = scores.map((row) => row.map((one) => one / Math.sqrt(queries[0].length)));
  const weights = scaled.map(softmax);
  return { queries, keys, values, scores, scaled, weights, output: product(weights, values) };
}

/** @param {Steps} steps */
const rounded = (steps) => Object.fromEntries(Object.entries(steps).map(([name, rows]) => [name, roundedRows(rows, DIGITS)]));

/** @type {Section[]} */
export const sections = [
  {
    inputs: ['words', 'vectors', 'query_weights', 'key_weights', 'value_weights', 'asking', 'sharpness', 'output_weights'],
    compute(inputs, { own }) {
      const { words: line, vectors, query_weights: queryWeights, key_weights: keyWeights, value_weights: valueWeights, asking, sharpness, output_weights: outputWeights } = inputs;
      checkText(line, 'The text', 60);
      checkMatrices(['vectors', 'query_weights', 'key_weights', 'value_weights', 'output_weights'], inputs, own);
      checkNumber('asking', asking, 1, vectors.length);
      checkNumber('sharpness', sharpness, 0, 10, false);
      const words = labels(line, vectors.length), at = asking - 1;
      const steps = attention(product(vectors, queryWeights), product(vectors, keyWeights), product(vectors, valueWeights));
      return {
        words: words.join(' '),
        askers: words.map((word, index) => [index + 1, word]),
        asker: words[at],
        steps: rounded(steps),
        ...writtenOut(steps, vectors[at], queryWeights, words, at),
        ...dictionary(steps, words, at, sharpness),
        heads: heads(steps, outputWeights),
        rotary: roundedRows(rotary(steps.queries[at], steps.keys[0])),
        rotary_key: words[0],
      };
    },
  },
  {
    inputs: ['dots', 'width'],
    compute(inputs, { own }) {
      const { dots, width } = inputs;
      checkMatrices(['dots'], inputs, own);
      checkNumber('width', width, 1, 4096);
      const scaled = dots[0].map((one) => one / Math.sqrt(width));
      return { 'scaling.scaled': roundedRows([scaled]), 'scaling.weights': roundedRows([softmax(scaled)]), 'scaling.unscaled': roundedRows([softmax(dots[0])]) };
    },
  },
  {
    inputs: ['line', 'scores', 'mask'],
    compute(inputs, { own }) {
      const { line, scores, mask: kind } = inputs;
      checkText(line, 'The text', 60);
      checkMatrices(['scores'], inputs, own);
      checkChoice('mask', kind, ['none', 'later', 'padding']);
      const hides = (row, column) => (kind === 'later' && column > row) || (kind === 'padding' && column === scores.length - 1);
      const mask = scores.map((row, at) => row.map((_, column) => (hides(at, column) ? -Infinity : 0)));
      const sum = scores.map((row, at) => row.map((one, column) => one + mask[at][column]));
      return {
        line: labels(line, scores.length).join(' '),
        'masking.mask': roundedRows(mask), 'masking.sum': roundedRows(sum), 'masking.weights': roundedRows(sum.map(softmax), DIGITS),
      };
    },
  },
  {
    inputs: ['source', 'target', 'cross_queries', 'cross_keys', 'cross_values'],
    compute(inputs, { own }) {
      const { source: french, target: english, cross_queries: queries, cross_keys: keys, cross_values: values } = inputs;
      checkText(french, 'The French text', 60);
      checkText(english, 'The English text', 60);
      checkMatrices(['cross_queries', 'cross_keys', 'cross_values'], inputs, own);
      const steps = attention(queries, keys, values), weights = steps.weights.at(-1);
      const source = labels(french, keys.length), target = labels(english, queries.length);
      const parts = weights.map((weight, index) => `${decimals(weight)} · ${source[index]}`).join(' + ');
      return {
        source: source.join(' '), target: target.join(' '), last: target.at(-1), cross: rounded(steps),
        cross_sum: `${parts} = ${mixture(weights, values)} = ${vector(steps.output.at(-1), 2)}`,
      };
    },
  },
];

/** @param {number[]} weights @param {number[][]} values */
const mixture = (weights, values) => weights.map((weight, index) => `${decimals(weight)} · ${vector(values[index])}`).join(' + ');

/** What one word computes, number by number. @param {Steps} steps @param {number[]} row @param {number[][]} queryWeights @param {string[]} words @param {number} at */
function writtenOut({ queries, keys, values, scores, scaled, weights, output }, row, queryWeights, words, at) {
  const terms = transposed(queryWeights).map((column) => dotTerms(row, column)).join(', ');
  const powers = scaled[at].map((one) => `e^(${decimals(one)})`);
  return {
    query_sum: `q = ${vector(row)} · W_q = (${terms}) = ${vector(queries[at])}`,
    score_sum: words.map((word, index) => `${word}: ${dotTerms(queries[at], keys[index])} = ${short(scores[at][index])}`).join('; '),
    scaled_sum: scores[at].map((score, index) => `${short(score)} / √2 = ${decimals(scaled[at][index])}`).join('; '),
    weight_sum: words.flatMap((word, index) => [
      `${index ? '; ' : ''}${word}: `, { formula: powers[index] }, ' / (', { formula: powers.join(' + ') }, `) = ${decimals(weights[at][index])}`,
    ]),
    output_sum: `${mixture(weights[at], values)} = ${vector(output[at], 2)}`,
  };
}

/** One query looked up among all keys. @param {Steps} steps @param {string[]} words @param {number} at @param {number} sharpness */
function dictionary({ queries, keys, values, scores }, words, at, sharpness) {
  const { weights: [weights], output: [value] } = attention([queries[at].map((one) => sharpness * one)], keys, values);
  return {
    entries: words.map((word, index) => [word, vector(keys[index]), short(scores[at][index]), { bar: weights[index], text: decimals(weights[index]) }, vector(values[index])]),
    query: vector(queries[at]),
    found: vector(value, 2),
  };
}

/** Two heads of one number each. @param {Steps} steps @param {number[][]} outputWeights */
function heads({ queries, keys, values }, outputWeights) {
  const column = (rows, head) => rows.map((row) => [row[head]]);
  const each = [0, 1].map((head) => attention(column(queries, head), column(keys, head), column(values, head)));
  const joined = queries.map((_, row) => each.map(({ output }) => output[row][0]));
  return {
    weights: each.map(({ weights }) => roundedRows(weights, DIGITS)), mixed: each.map(({ output }) => roundedRows(output, DIGITS)),
    joined: roundedRows(joined, DIGITS), output: roundedRows(product(joined, outputWeights), DIGITS),
  };
}

/** Scores of one query and one key at every pair of positions; two numbers turn by one angle a position. @param {number[]} query @param {number[]} key */
function rotary(query, key) {
  const turned = (/** @type {number[]} */ [x, y], /** @type {number} */ position) => [x * Math.cos(position) - y * Math.sin(position), y * Math.cos(position) + x * Math.sin(position)];
  const places = Array.from({ length: POSITIONS }, (_, position) => position);
  return places.map((row) => places.map((column) => dot(turned(query, row), turned(key, column))));
}
