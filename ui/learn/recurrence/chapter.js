/**
 * Why attention: a recurrent encoder-decoder step by step, attention's scores by hand, and three translators.
 *
 * @typedef {{node: HTMLElement, draw: (result: any) => void}} RecurrencePart
 */

/** @import { ChapterInput } from '../chapter_input.js' */

import { make } from '../../kit/js/dom.js';
import { chapterInput } from '../chapter_input.js';
import { lessonPart, sideBySide, paragraph } from '../lesson.js';
import { matrixTable } from '../matrix.js';
import { dotTerms, scoresPart, shortNumber, weightedSum } from './scores.js';
import { lengthPart, translationPart } from './translators.js';
import { unrolledPart } from './unrolled.js';

/** @type {import('../lesson.js').Build} */
export function build(root, ask) {
  const input = chapterInput(ask);
  const parts = [unrolledPart, byHandPart, scoresPart, translationPart, lengthPart].map((part) => part(input));
  root.append(
    paragraph('The neural translators of 2014 were recurrent: one network read the sentence word by word, another wrote the '
      + 'translation, and all that passed between them was one vector. Attention was invented to get around that.'),
    sideBySide(input.reset), ...parts.map(({ node }) => node));
  ask({});

  return (result) => {
    input.update(result.given);
    parts.forEach(({ draw }) => draw(result));
  };
}

/** A score, the weights, the context vector. @param {ChapterInput} input @returns {RecurrencePart} */
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
