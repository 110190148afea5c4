/**
 * Why attention: a recurrent encoder-decoder unrolled, three translators with their alignments, and BLEU by length.
 *
 * @typedef {{name: string, title: string, text: string, complete: boolean, source: string[], tokens: string[],
 *   alignment: number[][] | null}} LessonTranslation
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make } from '../../../kit/js/dom.js';
import { visibleText } from '../../../kit/js/text.js';
import { plainButton, sideBySide } from '../../lesson.js';
import { matrixNumber, matrixTable } from '../../drawings/matrix.js';
import { extentBar } from '../../drawings/pieces.js';
import { redrawn } from '../../text/slot_values.js';

const ROWS = ['word’s vector x', 'state before h', 'reset gate r', 'update gate z', 'candidate n', 'new state h′'];
const [, BEFORE, , UPDATE, CANDIDATE, AFTER] = ROWS.keys();

/** A box for each word with the state after it, and the numbers of one step. @returns {SlotView} */
export function unrolled() {
  /** @type {any} */
  let last = null;
  let chosen = 0; // the step in the table
  let column = 0; // the number that is written out
  const picture = make('div', { class: 'at-unrolled' });
  const outcome = make('p', { class: 'at-quiet', role: 'status' });
  const table = matrixTable({ rowNames: ROWS, onPoint: (cell) => {
    if (cell) ({ column } = cell);
    explain();
  } });
  const next = plainButton('Next word', () => choose((chosen + 1) % last.words.length));
  const node = make('div', {}, picture, sideBySide(next), table.node, outcome);

  function choose(step) {
    chosen = step;
    paint();
  }

  function paint() {
    const { words, read, steps } = last;
    const boxes = words.map((word, index) => stepBox(word, steps[index][AFTER], index === chosen, () => choose(index)));
    const size = steps[0][AFTER].length;
    picture.replaceChildren(
      side('Encoder', boxes.slice(0, read)),
      make('div', { class: 'at-bottleneck' }, arrow(), make('div', {}, strip(steps[read - 1][AFTER]),
        make('span', { text: `${size} numbers` })), arrow()),
      side('Decoder', boxes.slice(read)));
    const encodes = chosen < read;
    const [number, count] = encodes ? [chosen + 1, read] : [chosen + 1 - read, words.length - read];
    table.update(steps[chosen], {
      caption: `${encodes ? 'Encoder' : 'Decoder'}, word ${number} of ${count}: “${words[chosen]}”`,
      columnNames: steps[0][AFTER].map((_, index) => String(index + 1)),
    });
    explain();
  }

  function explain() {
    if (!last) return;
    const [before, update, candidate, after] = [BEFORE, UPDATE, CANDIDATE, AFTER]
      .map((row) => matrixNumber(last.steps[chosen][row][column], 2));
    outcome.textContent = `Number ${column + 1} of the new state: (1 − z) · n + z · h = (1 − ${update}) · (${candidate}) + `
      + `${update} · (${before}) = ${after}`;
  }

  function draw(result) {
    last = result;
    chosen = Math.min(chosen, result.words.length - 1);
    paint();
  }

  return { node, draw };
}

/** @param {string} name @param {HTMLElement[]} boxes */
const side = (name, boxes) => make('div', { class: 'at-unrolled-side', role: 'group', 'aria-label': name },
  make('span', { class: 'at-quiet', text: name }),
  make('div', { class: 'at-unrolled-steps' }, ...boxes.flatMap((box, index) => (index ? [arrow(), box] : [box]))));

/** @param {string} word @param {number[]} state after it @param {boolean} isChosen @param {() => void} onclick */
const stepBox = (word, state, isChosen, onclick) => make('button', {
  type: 'button', class: 'at-unrolled-step', 'aria-pressed': String(isChosen), onclick,
}, strip(state), make('span', { text: word, dir: 'auto' }));

/** A state as coloured cells. @param {number[]} state each number from −1 to 1 */
const strip = (state) => make('span', {
  class: 'at-state', role: 'img', 'aria-label': `state ${state.map((number) => matrixNumber(number, 2)).join(', ')}`,
}, ...state.map((number) => make('i', { 'data-level': Math.round(5 + 5 * number), title: matrixNumber(number, 2) })));

const arrow = () => make('span', { class: 'at-quiet', 'aria-hidden': 'true', text: '→' });

/** What each makes of the sentence. @param {SlotWiring} wiring @returns {SlotView} */
export function translations({ cases, controls }) {
  const card = (/** @type {LessonTranslation} */ { name, title, text, complete }) =>
    make('section', { class: 'at-translator', 'aria-label': title },
      make('h4', {}, title, make('small', { class: 'at-quiet' }, ' ', ...controls.say(cases[name]))),
      make('p', { dir: 'auto', text: complete ? text : `${text} …` }),
      ...(complete ? [] : [make('p', { class: 'at-quiet' }, ...controls.say(cases['cut off']))]));
  return redrawn(make('div', { class: 'at-translators' }), (result) => result.translations.map(card));
}

/** Where those with attention look. @returns {SlotView} */
export function alignments() {
  const node = make('div', { class: 'at-alignments at-tables' });
  let drawn = '';

  function draw({ given: { sentence }, translations: all }) {
    if (sentence === drawn) return;
    drawn = sentence;
    const names = (/** @type {string[]} */ tokens) => tokens.map((token) => visibleText(token.trimStart()));
    node.replaceChildren(...all.filter(({ alignment }) => alignment).map(({ title, source, tokens, alignment }) => matrixTable({
      caption: `${title}: where it looks`, rows: alignment, scale: 'share', rowNames: names(tokens), columnNames: names(source),
    }).node));
  }

  return { node, draw };
}

/** BLEU by sentence length, as recorded. @returns {SlotView} */
export const bleu = () => redrawn(make('div', { class: 'at-bleu at-two' }), ({ bars }) => bars.map(({ length, sentences, bleu: scores }) =>
  make('div', {}, make('h4', {}, length, make('small', { class: 'at-quiet', text: ` ${sentences} sentences` })),
    make('ul', {}, ...scores.map(([name, title, score]) => make('li', { 'data-translator': name }, make('span', { text: title }),
      extentBar(score / 100), make('span', { class: 'at-near-number', text: score.toFixed(1) })))))));
