/**
 * The map of a model: what to map, the drawing, and beside it the part that was picked, at work on a sentence.
 *
 * @typedef {{input: Record<string, any>, questions: import('../../kit/js/questions.js').Questions, openChapter: (key: string) => void}} MapWiring
 *   `input`: what a link fills in
 */

/** @import { LessonValue } from '../learn_contract' */

import { withParts } from '../../kit/address/address.js';
import { make } from '../../kit/js/dom.js';
import { closeOnEscape } from '../../kit/js/keys.js';
import { classLinkWanted } from '../../kit/js/signals.js';
import { counted } from '../../kit/js/text.js';
import { copy } from '../../kit/js/transfer.js';
import { makeClassButton } from '../../kit/parts/class_button.js';
import { inputText } from '../input.js';
import { labelled, plainButton, sideBySide } from '../lesson.js';
import { newestOnly } from '../newest.js';
import { typing } from '../text/typing.js';
import { focusBox, mapDrawing } from './drawing.js';
import { partPanel } from './panel.js';

const NARROW = 760; // pixels, below which the part stands under the drawing

/** @param {MapWiring} wiring */
export function mapView({ input, questions, openChapter }) {
  const refused = make('p', { class: 'at-lesson-refused', role: 'alert', hidden: true });
  const waits = make('p', { class: 'at-quiet at-lesson-waits', role: 'status' });
  const model = make('select', { 'aria-label': 'Model', onchange: () => ask({ model: model.value }) }); // with a sentence of its own
  const sentence = make('input', { type: 'text', class: 'at-lesson-wide', maxlength: 120, onchange: () => change({ sentence: typedSentence.take() }) });
  const translation = make('input', { type: 'text', class: 'at-lesson-wide', maxlength: 120, onchange: () => change({ translation: typedTranslation.take() }) });
  const [typedSentence, typedTranslation] = [sentence, translation].map((field) => typing(field));
  const layer = make('select', { 'aria-label': 'Layer', onchange: () => change({ layer: Number(layer.value) }) });
  const head = make('select', { 'aria-label': 'Head', onchange: () => change({ head: Number(head.value) }) });
  const written = labelled('The decoder has written', translation);
  const total = make('p', { class: 'at-quiet' });
  const drawing = make('div', { class: 'at-model-map-drawing' });
  const panel = make('div', { class: 'at-model-map-panel' });
  const tree = make('pre', { class: 'at-model-map-tree', tabindex: 0 });
  const address = () => withParts(location.href, { tab: 'Learn', chapter: 'map', numbers: inputText(now, {}) });
  const link = plainButton('Copy a link to this page', () => copy(address(), link));
  const classLink = makeClassButton(() => classLinkWanted.publish(address()));
  const node = make('section', { class: 'at-lesson-chapter', 'aria-label': 'Map' },
    make('div', { class: 'at-lesson-top' }, make('h2', { text: 'Map', tabindex: -1 }), waits),
    make('p', { class: 'at-lesson-aim', text: 'The whole model in one picture, from the bottom to the top. Choose a part to see it compute.' }),
    sideBySide(labelled('Model', model), labelled('Layer', layer), labelled('Head', head)),
    sideBySide(labelled('Sentence', sentence)), sideBySide(written), refused,
    make('div', { class: 'at-model-map-both' }, make('div', {}, drawing, total), panel),
    make('details', { class: 'at-weights' }, make('summary', { text: 'The model’s modules as text' }), tree), sideBySide(link, classLink));
  /** @type {Record<string, any>} what was asked last */
  let now = {};
  /** @type {Record<string, any> | null} */
  let result = null;
  const askNewest = newestOnly(questions);

  /** @param {Record<string, any>} changes */
  const change = (changes) => ask({ ...now, ...changes });

  /** @param {Record<string, any>} inputs @param {() => void} [then] */
  function ask(inputs, then) {
    now = inputs;
    waits.textContent = result ? '' : 'Computing …';
    askNewest('ask', { chapter: 'map', inputs }, (/** @type {LessonValue} */ { error, result: next }) => {
      waits.textContent = '';
      refused.textContent = error;
      refused.hidden = !error;
      if (!next) return;
      result = next;
      now = Object.fromEntries(['model', 'sentence', 'layer', 'head', 'part'].map((name) => [name, next[name]]));
      if (next.translation !== null) now.translation = next.translation;
      draw();
      then?.();
    });
  }

  function draw() {
    options(model, result.models, result.model);
    options(layer, numbers(result.layers), result.layer);
    options(head, numbers(result.heads), result.head);
    typedSentence.put(result.sentence);
    written.hidden = result.translation === null;
    typedTranslation.put(result.translation ?? '');
    total.textContent = `The shaded parts have learned ${counted.format(result.total)} parameters in all; the others only compute.`;
    tree.textContent = result.tree;
    drawMap();
    partPanel(panel, result.detail, openChapter);
  }

  function drawMap() {
    if (!result || !drawing.clientWidth) return;
    const focused = drawing.contains(document.activeElement) ? document.activeElement.getAttribute('data-part') : null;
    drawing.replaceChildren(mapDrawing(result.sides, {
      width: drawing.clientWidth, labels: result.parts, chosen: result.part, layer: result.layer, pick: choose,
    }));
    if (focused) focusBox(drawing, focused);
  }

  /** From the drawing. @param {string} part */
  function choose(part) {
    ask({ ...now, part }, () => {
      if (node.clientWidth < NARROW) panel.scrollIntoView({ block: 'start', behavior: 'smooth' });
    });
  }

  /** From a chapter, which names a part of its form of the map. @param {string} part @param {string} form */
  function pick(part, form) {
    const lacksEncoder = form === 'both' && (!result || result.translation === null);
    ask(lacksEncoder ? { part, form } : { ...now, part });
  }

  closeOnEscape(panel, () => focusBox(drawing, result?.part)); // back to where the part was picked
  let width = 0;
  new ResizeObserver(() => {
    if (drawing.clientWidth === width) return;
    width = drawing.clientWidth;
    drawMap();
  }).observe(drawing);
  ask(input);
  return { node, pick };
}

/** @param {number} count @returns {[number, string][]} */
const numbers = (count) => Array.from({ length: count }, (_, index) => [index + 1, String(index + 1)]);

/** @param {HTMLSelectElement} select @param {[string | number, string][]} offered @param {string | number} chosen */
function options(select, offered, chosen) {
  select.replaceChildren(...offered.map(([value, text]) => make('option', { value, text, selected: value === chosen })));
}
