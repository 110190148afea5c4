/**
 * A word in its context: one vector for all meanings, an encoder's vectors layer by layer, and a model that reads from left
 * to right.
 *
 * @typedef {{node: HTMLElement, draw: (result: any) => void}} ContextPart
 */

/** @import { ChapterInput } from '../chapter_input.js' */

import { make } from '../../kit/js/dom.js';
import { percent, signed, tokenChip } from '../../kit/js/text.js';
import { chapterInput, inputOf } from '../chapter_input.js';
import { labelled, lessonPart, paragraph, sideBySide } from '../lesson.js';
import { matrixTable } from '../matrix.js';
import { layersPart } from './layers.js';

const FIELDS = ['with_fruit', 'with_phone', 'encoder', 'word', 'first', 'second', 'lines', 'meant'];
const COLUMNS = ['weight', 'x', 'y'];

/** @type {import('../lesson.js').Build} */
export function build(root, ask) {
  const input = chapterInput(ask);
  const parts = [byHandPart, layersPart, leftToRightPart].map((part) => part(input));
  root.append(
    paragraph('A model has one vector for each token of its vocabulary, so “apple” begins as the same numbers in a recipe '
      + 'and in a phone advert. What the word means here is added on the way: in every layer, attention mixes the vectors of its '
      + 'neighbours into its own. Such vectors are called contextual.'),
    sideBySide(input.reset), ...parts.map(({ node }) => node));
  ask({});

  return (result) => {
    input.update(inputOf(result, FIELDS));
    parts.forEach(({ draw }) => draw(result));
  };
}

/** Two neighbours, two vectors. @param {ChapterInput} input @returns {ContextPart} */
function byHandPart({ numbers }) {
  const texts = ['fruit', 'phone'].map((neighbour) => {
    const key = `with_${neighbour}`;
    const table = numbers(key, `In “apple, ${neighbour}”`, { rowNames: ['apple', neighbour], columnNames: COLUMNS });
    const sum = make('p', { class: 'at-quiet' });
    return { key, sum, node: make('div', {}, table.node, sum) };
  });
  const alike = make('p', { class: 'at-lesson-text', role: 'status' });
  const node = lessonPart('One vector becomes two',
    paragraph('In both texts “apple” starts at (5, 7), so its two vectors have a cosine of 1. Then each takes a share of '
      + 'its neighbour, as in “Attention by hand”. The numbers are a lecture’s; change any.'),
    make('div', { class: 'at-two' }, ...texts.map((text) => text.node)), alike);

  function draw(result) {
    texts.forEach(({ key, sum }, index) => {
      sum.textContent = sumText(result[key], result.sums[index]);
    });
    alike.textContent = `Now the cosine of the two vectors of “apple” is ${signed(result.alike.toFixed(3))}.`;
  }

  return { node, draw };
}

/** @param {number[][]} rows a weight and then a vector each @param {number[]} sum */
function sumText(rows, sum) {
  const parts = rows.map(([weight, ...vector]) => `${weight} · (${vector.join(', ')})`);
  return signed(`${parts.join(' + ')} = (${sum.map((one) => one.toFixed(1)).join(', ')})`);
}

/** The same of a decoder, which has read the text before the word only. @param {ChapterInput} input @returns {ContextPart} */
function leftToRightPart({ typed, change }) {
  const lines = make('textarea', {
    rows: 4, class: 'at-lesson-wide', 'aria-label': 'Texts, one per line', onchange: () => change({ lines: lines.value }),
  });
  const note = make('p', { class: 'at-lesson-text' });
  const likeness = matrixTable({ scale: 'share' });
  const following = make('ol', { class: 'at-following' });
  const node = lessonPart('A model that reads from left to right',
    paragraph('A decoder knows only what stands before the word. attend-chat is small, and tells words apart by grammar '
      + 'more than by meaning: in the first two texts “watch” is a verb, in the others a noun, and within a pair the '
      + 'same words could follow. Try both meanings of “bank”.'),
    sideBySide(typed('meant', 'Word', { size: 10 })), sideBySide(labelled('Texts', lines)), note,
    make('div', { class: 'at-two' }, likeness.node, following));

  function draw({ reader, meant, lines: read, cosines, following: follows }) {
    lines.value = read;
    note.textContent = reader ? '' : 'None of the loaded models continues texts: choose attend-chat in the settings.';
    likeness.node.hidden = !reader;
    const texts = read.split('\n');
    const names = texts.map((_, index) => String(index + 1));
    const caption = `“${meant}” in ${reader}: cosines after the last layer`;
    if (reader) likeness.update(cosines, { caption, rowNames: names, columnNames: names });
    following.replaceChildren(...follows.map((tokens, index) => make('li', {}, `${texts[index].slice(0, 80)} … `,
      ...tokens.flatMap(([token, share]) => [make('span', {}, tokenChip(token), ` ${percent(share)}`), '  ']))));
  }

  return { node, draw };
}
