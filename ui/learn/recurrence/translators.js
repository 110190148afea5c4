/**
 * Three translators on one sentence, with their alignments, and their BLEU by sentence length as it was recorded.
 *
 * @typedef {{name: string, text: string, complete: boolean, source: string[], tokens: string[],
 *   alignment: number[][] | null}} LessonTranslation
 */

/** @import { ChapterInput } from '../chapter_input.js' */
/** @import { RecurrencePart } from './chapter.js' */

import { make } from '../../kit/js/dom.js';
import { counted, visibleText } from '../../kit/js/text.js';
import { lessonPart, paragraph, plainButton, sideBySide } from '../lesson.js';
import { matrixTable } from '../matrix.js';

/** By their folders' names. @type {Record<string, {title: string, note: string}>} */
const TRANSLATORS = {
  gru: { title: 'GRU', note: 'one vector of 256 numbers' },
  'gru-attention': { title: 'GRU with attention', note: 'Bahdanau’s attention' },
  'attend-translate': { title: 'attend-translate', note: 'a transformer' },
};

/** @param {ChapterInput} input @returns {RecurrencePart} */
export function translationPart({ typed, change }) {
  const cards = make('div', { class: 'at-translators' });
  const maps = make('div', { class: 'at-alignments' });
  const examples = sideBySide();
  const node = lessonPart('Three translators',
    paragraph('Two GRUs that were trained for this chapter, and attend-translate. The encoder of each GRU reads in both '
      + 'directions. The first GRU’s decoder gets the two last states, 256 numbers, at every step. The second attends '
      + 'to the states of all tokens. Both are small and were trained for twenty minutes, so expect mistakes. The three sentences '
      + 'below were chosen because the GRUs differ on them; type your own.'),
    sideBySide(typed('sentence', 'French sentence', { class: 'at-lesson-wide' })),
    examples,
    cards,
    paragraph('A row is a token of the translation and a column a token of the sentence; the stronger the colour, the more '
      + 'attention, '
      + 'and each row adds up to 1. Of attend-translate you see the last layer, averaged over its heads. Where a model '
      + 'looks does not explain what it decides.'),
    maps);

  let drawn = '';

  /** @param {{given: {sentence: string}, sentences: string[], translations: LessonTranslation[]}} result */
  function draw({ given: { sentence }, sentences, translations }) {
    if (!examples.children.length) {
      examples.append(...sentences.map((text) => plainButton(text, () => change({ sentence: text }))));
    }
    if (sentence === drawn) return;
    drawn = sentence;
    cards.replaceChildren(...translations.map(translatorCard));
    maps.replaceChildren(...translations.filter(({ alignment }) => alignment).map(alignmentTable));
  }

  return { node, draw };
}

/** @param {LessonTranslation} translation */
const translatorCard = ({ name, text, complete }) => make('section', { class: 'at-translator', 'aria-label': TRANSLATORS[name].title },
  make('h4', {}, TRANSLATORS[name].title, make('small', { class: 'at-quiet', text: ` ${TRANSLATORS[name].note}` })),
  make('p', { dir: 'auto', text: complete ? text : `${text} …` }),
  ...(complete ? [] : [make('p', { class: 'at-quiet', text: 'It never came to an end, so it was cut off.' })]));

/** @param {LessonTranslation} translation */
function alignmentTable({ name, source, tokens, alignment }) {
  return matrixTable({
    caption: `${TRANSLATORS[name].title}: where it looks`, rows: alignment, scale: 'share',
    rowNames: tokens.map((token) => visibleText(token.trimStart())), columnNames: source.map((token) => visibleText(token.trimStart())),
  }).node;
}

/** BLEU by sentence length, as recorded. @param {ChapterInput} _input @returns {RecurrencePart} */
export function lengthPart(_input) {
  const chart = make('div', { class: 'at-bleu' });
  const outcome = make('p', { class: 'at-lesson-text' });
  const source = make('div', {});
  const node = lessonPart('Long sentences',
    paragraph('One vector must hold a sentence of four words and one of twenty. BLEU (Papineni et al., 2002) compares '
      + 'translations with those of people, from 0 to 100. attend-translate is larger and read far more, so compare how '
      + 'each model’s bars shrink with length, and not how long they are. Cho, van Merriënboer, Bahdanau and Bengio (2014) '
      + 'found that models without attention get much worse as sentences get longer. Bahdanau, Cho and Bengio (2015) '
      + 'saw no such fall in their best model with attention, even at 50 words.'),
    chart, outcome, source);

  function draw({ recorded }) {
    if (chart.children.length) return; // it never changes
    const lengths = Object.keys(recorded.sentences).filter((length) => length !== 'all');
    chart.append(...lengths.map((length) => lengthBars(length, recorded)));
    const [middle, longest] = [lengths[1], lengths.at(-1)];
    const kept = Object.entries(recorded.bleu)
      .map(([name, bleu]) => `${TRANSLATORS[name].title} ${Math.round((100 * bleu[longest]) / bleu[middle])}\u00a0%`);
    outcome.textContent = `On the longest sentences, each model keeps this share of its BLEU for ${words(middle)}: ${kept.join(', ')}. `
      + `There are only ${recorded.sentences[longest]} of them, and each GRU was trained once, so a few points are chance.`;
    source.replaceChildren(paragraph(`Recorded, not computed here: ${recorded.metric} on `
      + `${counted.format(recorded.sentences.all)} French sentences that no model was trained on, by \`${recorded.command}\`. `
      + 'Words are what spaces separate.'));
  }

  return { node, draw };
}

/** @param {string} length "5-8" or "13+" */
const words = (length) => `${length.replace('-', '–').replace('+', ' or more')} words`;

/** @param {string} length @param {{sentences: Record<string, number>, bleu: Record<string, Record<string, number>>}} recorded */
function lengthBars(length, { sentences, bleu }) {
  const rows = Object.entries(bleu).map(([name, of]) => {
    const bar = make('i', { 'aria-hidden': 'true' });
    bar.style.width = `${of[length]}%`;
    return make('li', { 'data-translator': name }, make('span', { text: TRANSLATORS[name].title }),
      make('span', { class: 'at-extent' }, bar), make('span', { class: 'at-bleu-number', text: of[length].toFixed(1) }));
  });
  return make('div', {}, make('h4', {}, words(length),
    make('small', { class: 'at-quiet', text: ` ${counted.format(sentences[length])} sentences` })), make('ul', {}, ...rows));
}
