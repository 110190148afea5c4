/**
 * Why attention: three ways to let words meet, a recurrent encoder-decoder unrolled, what reaches far, three translators
 * with their alignments, and BLEU by length.
 *
 * @typedef {{name: string, title: string, text: string, complete: boolean, source: string[], tokens: string[],
 *   alignment: number[][] | null}} LessonTranslation
 */

/** @import { Point } from '../../drawings/plot.js' */
/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make, makeButton } from '../../../kit/js/dom.js';
import { visibleText } from '../../../kit/js/text.js';
import { sideBySide } from '../../lesson.js';
import { matrixNumber, matrixTable } from '../../drawings/matrix.js';
import { extentBar } from '../../drawings/pieces.js';
import { chart, dot, line, plot } from '../../drawings/plot.js';
import { redrawn } from '../../text/slot_values.js';

const ROWS = ['word’s vector x', 'state before h', 'reset gate r', 'update gate z', 'candidate n', 'new state h′'];
const [, BEFORE, , UPDATE, CANDIDATE, AFTER] = ROWS.keys();

const WAYS = { recurrent: 'Recurrent', convolution: 'Convolutional', attention: 'Attention' };
const [GAP, RISE] = [30, 26]; // between the dots of a row, and between rows
/** @type {Record<string, string>} the colour of each reader, in curves and bars */
const COLOURS = { untrained: 'quiet dashed', gru: 'other', 'gru-attention': 'accent', 'attend-translate': 'attention' };

/** Who reads whom in each of the three ways, with the way from the first word to the last. @returns {SlotView} */
export const meetings = () => redrawn(make('div', { class: 'at-three at-meetings' }), ({ meetings: all, meeting }) =>
  Object.entries(WAYS).map(([kind, title]) => {
    const { layers, path } = all[kind];
    const steps = `${path.length} ${path.length === 1 ? 'step' : 'steps'}`;
    return make('figure', {}, make('figcaption', {}, title, make('small', { class: 'at-quiet', text: ` ${steps} from the first word to the last` })),
      kind === 'recurrent' ? chainPicture(meeting) : layersPicture(layers, path, meeting));
  }));

/** @param {number} count of words, each of which reads the one before */
function chainPicture(count) {
  const words = Array.from({ length: count }, (_, index) => index);
  const read = words.map((index) => [index, index]);
  const handed = words.slice(1).map((index) => [index - 1, index]);
  /** @returns {Point} */
  const at = (/** @type {number} */ index, /** @type {number} */ row) => [16 + GAP * index, 62 - 36 * row];
  return plot([32 + GAP * (count - 1), 82], 'Each word hands its state to the next', [
    ...read.map(([from, to]) => line(at(from, 0), at(to, 1), 'axis')),
    ...handed.map(([from, to]) => line(at(from, 1), at(to, 1), 'path accent')),
    ...words.flatMap((index) => [dot(at(index, 0), 4, 'quiet'), dot(at(index, 1), 4, index === 0 || index === count - 1 ? 'accent' : 'quiet')]),
  ]);
}

/** @param {[number, number][][]} layers @param {[number, number][]} path @param {number} count of words */
function layersPicture(layers, path, count) {
  const high = 20 + RISE * layers.length + (layers.length === 1 ? RISE : 0);
  const rise = layers.length === 1 ? 2 * RISE : RISE;
  /** @returns {Point} */
  const at = (/** @type {number} */ index, /** @type {number} */ row) => [16 + GAP * index, high - 8 - rise * row];
  const isOnPath = (layer, [from, to]) => path[layer][0] === from && path[layer][1] === to;
  const edges = layers.flatMap((layer, row) => layer.map((edge) => ({ row, edge, marked: isOnPath(row, edge) })));
  return plot([32 + GAP * (count - 1), high], 'Each word reads others in the layer below', [
    ...edges.toSorted((one, other) => Number(one.marked) - Number(other.marked)).map(({ row, edge: [from, to], marked }) =>
      line(at(from, row), at(to, row + 1), marked ? 'path accent' : 'axis')),
    ...Array.from({ length: layers.length + 1 }, (_, row) => Array.from({ length: count }, (__, index) =>
      dot(at(index, row), 4, (row === 0 && index === 0) || (row === layers.length && index === count - 1) ? 'accent' : 'quiet'))).flat(),
  ]);
}

/** How much the last vector depends on each token, by the distance. @returns {SlotView} */
export const gradients = () => redrawn(make('figure', { class: 'at-reach' }), ({ gradients: all }) =>
  reachPicture(all, { label: 'Gradient by distance', across: 'tokens back from the last', decades: 6, step: 1 }));

/** How much a vector differs when a distant word does, by the words between. @returns {SlotView} */
export const noticed = () => redrawn(make('figure', { class: 'at-reach' }), ({ noticed: all }) =>
  reachPicture(all, { label: 'Difference by distance', across: 'words between', decades: 4, step: 2 }));

/**
 * Curves from 1 down on a logarithmic scale, and their names with both ends.
 * @param {{name: string, title: string, shares: number[]}[]} curves
 * @param {{label: string, across: string, decades: number, step: number}} about `decades`: powers of ten on the scale;
 *   `step`: between two points of a curve
 */
function reachPicture(curves, { label, across, decades, step }) {
  const last = Math.max(...curves.map(({ shares }) => shares.length - 1));
  const powers = Array.from({ length: decades + 1 }, (_, index) => index - decades);
  return [
    chart([520, 240], label, curves.map(({ name, shares }) => ({
      colour: COLOURS[name], points: shares.map((share, index) => [index, Math.log10(share)]),
    })), {
      heights: powers.map((power) => [power, (10 ** power).toFixed(-power)]), margins: [76, 12], ends: ['0', `${last * step} ${across}`],
    }),
    make('ul', { class: 'at-row at-wrap at-md at-legend' }, ...curves.map(({ name, title, shares }) => make('li', {},
      make('i', { class: COLOURS[name], 'aria-hidden': 'true' }), `${title}: ${shares[0].toPrecision(2)} → ${shares.at(-1).toPrecision(2)}`))),
  ];
}

/** A box for each word with the state after it, and the numbers of one step. @returns {SlotView} */
export function unrolled() {
  /** @type {any} */
  let last = null;
  let chosen = 0; // the step in the table
  let column = 0; // the number that is written out
  const picture = make('div', { class: 'at-row at-wrap at-unrolled' });
  const outcome = make('p', { class: 'at-quiet', role: 'status' });
  const table = matrixTable({ rowNames: ROWS, onPoint: (cell) => {
    if (cell) ({ column } = cell);
    explain();
  } });
  const next = makeButton('Next word', () => choose((chosen + 1) % last.words.length), { disabled: true }); // until there are words
  const node = make('div', {}, picture, sideBySide(next), table.node, outcome);

  function choose(step) {
    chosen = step;
    paint();
  }

  function paint() {
    const { words, read, steps } = last;
    const boxes = words.map((word, index) => stepBox(word, steps[index][AFTER], index === chosen, () => choose(index)));
    const size = steps[0][AFTER].length;
    const hadFocus = picture.contains(document.activeElement);
    picture.replaceChildren(
      side('Encoder', boxes.slice(0, read)),
      make('div', { class: 'at-row at-gap-xs at-bottleneck' }, arrow(), make('div', { class: 'at-stack at-gap-xs' }, strip(steps[read - 1][AFTER]),
        make('span', { text: `${size} numbers` })), arrow()),
      side('Decoder', boxes.slice(read)));
    if (hadFocus) boxes[chosen].focus();
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
    next.disabled = false;
    paint();
  }

  return { node, draw };
}

/** @param {string} name @param {HTMLElement[]} boxes */
const side = (name, boxes) => make('div', { role: 'group', 'aria-label': name },
  make('span', { class: 'at-quiet at-md', text: name }),
  make('div', { class: 'at-row at-wrap at-gap-xs' }, ...boxes.flatMap((box, index) => (index ? [arrow(), box] : [box]))));

/** @param {string} word @param {number[]} state after it @param {boolean} isChosen @param {() => void} onclick */
const stepBox = (word, state, isChosen, onclick) => make('button', {
  type: 'button', class: 'at-stack at-gap-xs at-unrolled-step', 'aria-pressed': String(isChosen), onclick,
}, strip(state), make('span', { text: word, dir: 'auto' }));

/** A state as coloured cells. @param {number[]} state each number from −1 to 1 */
const strip = (state) => make('span', {
  class: 'at-state', role: 'img', 'aria-label': `state ${state.map((number) => matrixNumber(number, 2)).join(', ')}`,
}, ...state.map((number) => make('i', { 'data-level': Math.round(5 + 5 * number), title: matrixNumber(number, 2) })));

const arrow = () => make('span', { class: 'at-quiet', 'aria-hidden': 'true', text: '→' });

/** What each makes of the sentence. @param {SlotWiring} wiring @returns {SlotView} */
export function translations({ cases, controls }) {
  const card = (/** @type {LessonTranslation} */ { name, title, text, complete }) =>
    make('section', { class: 'at-panel at-translator', 'aria-label': title },
      make('h4', {}, title, make('small', { class: 'at-quiet' }, ' ', ...controls.say(cases[name]))),
      make('p', { dir: 'auto', text: complete ? text : `${text} …` }),
      ...(complete ? [] : [make('p', { class: 'at-quiet' }, ...controls.say(cases['cut off']))]));
  return redrawn(make('div', { class: 'at-two at-translators' }), (result) => result.translations.map(card));
}

/** Where those with attention look. @returns {SlotView} */
export function alignments() {
  const names = (/** @type {string[]} */ tokens) => tokens.map((token) => visibleText(token.trimStart()));
  return redrawn(make('div', { class: 'at-alignments at-tables' }), ({ translations: all }) =>
    all.filter(({ alignment }) => alignment).map(({ title, source, tokens, alignment }) => matrixTable({
      caption: `${title}: where it looks`, rows: alignment, scale: 'share', rowNames: names(tokens), columnNames: names(source),
    }).node));
}

/** BLEU by sentence length, as recorded. @returns {SlotView} */
export const bleu = () => redrawn(make('div', { class: 'at-bleu at-two' }), ({ bars }) => bars.map(({ length, sentences, bleu: scores }) =>
  make('div', {}, make('h4', {}, length, make('small', { class: 'at-quiet', text: ` ${sentences} sentences` })),
    make('ul', {}, ...scores.map(({ name, title, score }) => make('li', { class: 'at-measured at-md' }, make('span', { text: title }),
      extentBar(score / 100, COLOURS[name]), make('span', { class: 'at-number', text: score.toFixed(1) })))))));
