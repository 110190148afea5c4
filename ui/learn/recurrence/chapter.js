/**
 * Why attention: a recurrent encoder-decoder step by step, attention's scores by hand, and three translators.
 *
 * @typedef {{numbers: (key: string, caption: string, names?: {rowNames?: string[], columnNames?: string[]}) =>
 *   ReturnType<typeof matrixTable>, typed: (key: string, name: string) => HTMLElement,
 *   change: (changes: object) => void}} RecurrenceControls what a part is made with: `numbers` makes an editable table and
 *   `typed` a field
 * @typedef {{node: HTMLElement, draw: (result: any) => void}} RecurrencePart
 */

import { make } from '../../kit/js/dom.js';
import { plainButton, labelled, lessonPart, sideBySide, paragraph } from '../lesson.js';
import { matrixTable } from '../matrix.js';
import { dotTerms, scoresPart, shortNumber, weightedSum } from './scores.js';
import { lengthPart, translationPart } from './translators.js';
import { unrolledPart } from './unrolled.js';

/** @type {import('../lesson.js').Build} */
export function build(root, ask) {
  let now = {};
  const change = (changes) => {
    now = { ...now, ...changes };
    ask(now);
  };
  /** @type {Map<string, ReturnType<typeof matrixTable>>} */
  const tables = new Map();
  /** @type {Map<string, HTMLInputElement>} */
  const fields = new Map();
  const numbers = (key, caption, names = {}) => {
    const onEdit = (row, column, value) => change({
      [key]: now[key].map((line, i) => (i === row ? line.with(column, value) : line)),
    });
    tables.set(key, matrixTable({ caption, ...names, scale: 'plain', editable: true, onEdit }));
    return tables.get(key);
  };
  const typed = (key, name) => {
    const field = make('input', { type: 'text', class: 'at-lesson-wide', onchange: () => change({ [key]: field.value }) });
    fields.set(key, field);
    return labelled(name, field);
  };
  const controls = { numbers, typed, change };
  const parts = [unrolledPart, byHandPart, scoresPart, translationPart, lengthPart].map((part) => part(controls));
  const again = plainButton('Reset', () => {
    tables.forEach((table) => table.forget());
    ask({});
  });
  root.append(
    paragraph('The neural translators of 2014 were recurrent: one network read the sentence word by word, another wrote the '
      + 'translation, and all that passed between them was one vector. Attention was invented to get around that.'),
    sideBySide(again), ...parts.map(({ node }) => node));
  ask({});

  return (result) => {
    now = result.given;
    tables.forEach((table, key) => table.update(now[key]));
    fields.forEach((field, key) => {
      field.value = now[key];
    });
    parts.forEach(({ draw }) => draw(result));
  };
}

/** A score, the weights, the context vector. @param {RecurrenceControls} controls @returns {RecurrencePart} */
function byHandPart({ numbers }) {
  const axes = ['1', '2'];
  const pair = numbers('pair', 'Two states', { rowNames: ['decoder', 'encoder'], columnNames: axes });
  const scores = numbers('scores', 'Scores of six words', { columnNames: ['1', '2', '3', '4', '5', '6'] });
  const weighted = numbers('weighted', 'Weights and states', {
    rowNames: ['word 1', 'word 2'], columnNames: ['weight', ...axes],
  });
  const weights = matrixTable({
    caption: 'Weights', columnNames: ['1', '2', '3', '4', '5', '6'], digits: 4, scale: 'share',
  });
  const score = make('p', { class: 'at-quiet' });
  const sum = make('p', { class: 'at-quiet' });
  const node = lessonPart('Attention, by hand',
    paragraph('Bahdanau, Cho and Bengio (2015) let the decoder look at every state of the encoder. Before each word that '
      + 'it writes, it scores them all. Softmax turns the scores into weights, and the weighted sum of the states is the '
      + 'context vector of that word. Here the score is a dot product; Bahdanau’s own follows below. Each step has numbers of '
      + 'its own, from a lecture; only the second row of step 3 is ours. Change any.'),
    make('div', { class: 'at-hand-steps' },
      handStep('1. A score: how well two states match', pair.node, score),
      handStep('2. Weights: a softmax of the scores', scores.node, weights.node),
      handStep('3. The context vector: a weighted sum', weighted.node, sum)));

  function draw(result) {
    const { pair: [one, other], weighted: rows } = result.given;
    score.textContent = `${dotTerms(one, other)} = ${shortNumber(result.score)}`;
    weights.update(result.weights);
    sum.textContent = weightedSum(rows, result.products, result.context[0]);
  }

  return { node, draw };
}

/** @param {string} title @param {...HTMLElement} children */
const handStep = (title, ...children) => make('div', { class: 'at-hand-step' }, make('h4', { text: title }), ...children);
