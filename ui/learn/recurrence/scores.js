/**
 * Two ways to score a state, beside each other: the dot product and Bahdanau's small network; and numbers written out.
 */

/** @import { ChapterInput } from '../chapter_input.js' */
/** @import { RecurrencePart } from './chapter.js' */

import { make } from '../../kit/js/dom.js';
import { signed } from '../../kit/js/text.js';
import { lessonPart, paragraph } from '../lesson.js';
import { matrixTable } from '../matrix.js';

const STATES = ['h₁', 'h₂', 'h₃'];
const AXES = ['1', '2'];

/** @param {number} value as short as it can be written */
export const shortNumber = (value) => signed(String(Number(value.toPrecision(4))));

/** @param {number[]} values */
const vector = (values) => `(${values.map(shortNumber).join(', ')})`;

/** A dot product written out. @param {number[]} left @param {number[]} right */
export const dotTerms = (left, right) =>
  left.map((one, index) => `${shortNumber(one)} · ${shortNumber(right[index])}`).join(' + ');

/**
 * A weighted sum written out.
 * @param {number[][]} rows a weight and then a state each @param {number[][]} products @param {number[]} sum
 */
export function weightedSum(rows, products, sum) {
  const terms = rows.map(([weight, ...state]) => `${shortNumber(weight)} · ${vector(state)}`);
  return `${terms.join(' + ')} = ${products.map(vector).join(' + ')} = ${vector(sum)}`;
}

/** @param {ChapterInput} input @returns {RecurrencePart} */
export function scoresPart({ numbers }) {
  const axes = { columnNames: AXES };
  const square = { rowNames: AXES, columnNames: AXES };
  const given = [
    numbers('query', 'Decoder state s', axes), numbers('states', 'Encoder states h', { rowNames: STATES, ...axes }),
    numbers('query_weights', 'W', square), numbers('state_weights', 'U', square), numbers('score_weights', 'v', axes),
  ];
  const ways = [['dot', 'Dot product: s · h'], ['additive', 'Additive: v · tanh(W s + U h)']].map(([key, title]) => {
    const scores = matrixTable({ caption: 'Scores', columnNames: STATES, scale: 'plain', digits: 3 });
    const weights = matrixTable({ caption: 'Weights', columnNames: STATES, scale: 'share', digits: 3 });
    const context = matrixTable({ caption: 'Context vector', columnNames: AXES, scale: 'plain', digits: 3 });
    const node = make('div', { class: 'at-hand-step' }, make('h4', { text: title }), scores.node, weights.node, context.node);
    return { key, scores, weights, context, node };
  });
  const node = lessonPart('Two ways to score',
    paragraph('Lectures often score with the dot product, the simplest of the three scores of Luong, Pham and Manning (2015). '
      + 'Bahdanau’s score comes from a small network, which is trained with the rest: v · tanh(W s + U h). Its s is the '
      + 'decoder’s state before the word is written; Luong’s is the state after that step. Here W and U start as the '
      + 'identity and v as ones; in the code: `additive_scores` in model/recurrent/network.py.'),
    make('div', { class: 'at-tables' }, ...given.map((table) => table.node)),
    make('div', { class: 'at-two at-two-ways' }, ...ways.map((way) => way.node)));

  function draw(result) {
    ways.forEach(({ key, scores, weights, context }) => {
      scores.update(result[key].scores);
      weights.update(result[key].weights);
      context.update(result[key].context);
    });
  }

  return { node, draw };
}
