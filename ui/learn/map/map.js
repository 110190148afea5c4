/**
 * The map of a model: what to map, the drawing, and beside it the part that was picked, at work on a sentence.
 *
 * @typedef {{input: Record<string, any>, words: {aim: string, total: string}, questions: import('../../kit/js/questions.js').Questions,
 *   openChapter: (key: string) => void}} MapWiring
 *   `input`: what a link fills in; `words`: what stands around the map
 */

/** @import { Controls } from '../text/slot_values.js' */

import { make } from '../../kit/js/dom.js';
import { closeOnEscape } from '../../kit/js/keys.js';
import { counted } from '../../kit/js/text.js';
import { inputText } from '../input.js';
import { sideBySide } from '../lesson.js';
import { line, select } from '../text/fields.js';
import { lessonView } from '../view.js';
import { focusBox, mapDrawing } from './drawing.js';
import { partPanel } from './panel.js';

const NARROW = 760; // pixels, below which the part stands under the drawing

/** @param {MapWiring} wiring */
export function mapView({ input, words, questions, openChapter }) {
  const view = lessonView({ key: 'map', title: 'Map', questions, numbers: () => inputText(now, {}) }, words.aim);
  const controls = /** @type {Controls} */ (/** @type {unknown} */ ({
    change: (changes) => ask(changes.model ? changes : { ...now, ...changes }), // another model has a sentence of its own
    value: (name) => result?.[name],
  }));
  const chosen = [['model', 'Model', 'models'], ['layer', 'Layer', 'layers'], ['head', 'Head', 'heads']]
    .map(([name, label, options]) => select({ name, label, slot: { kind: 'select', options }, cases: {}, controls }));
  const [sentence, translation] = [['sentence', 'Sentence'], ['translation', 'The decoder has written']]
    .map(([name, label]) => line({ name, label, slot: { kind: 'line', wide: true, maxlength: 120 }, cases: {}, controls }));
  const total = make('p', { class: 'at-quiet' });
  const drawing = make('div', { class: 'at-model-map-drawing' });
  const panel = make('div', { class: 'at-model-map-panel' });
  const tree = make('pre', { class: 'at-code-block', tabindex: 0 });
  view.node.append(
    sideBySide(...chosen.map(({ node }) => node)), sideBySide(sentence.node), sideBySide(translation.node), view.refused,
    make('div', { class: 'at-model-map-both' }, make('div', {}, drawing, total), panel),
    make('details', { class: 'at-weights' }, make('summary', { text: 'The model’s modules as text' }), tree), view.links);
  /** @type {Record<string, any>} what was asked last */
  let now = {};
  /** @type {Record<string, any> | null} */
  let result = null;

  /** @param {Record<string, any>} inputs @param {() => void} [then] */
  function ask(inputs, then) {
    now = inputs;
    view.question('map', inputs, (next) => {
      result = next;
      now = Object.fromEntries(['model', 'sentence', 'layer', 'head', 'part'].map((name) => [name, next[name]]));
      if (next.translation !== null) now.translation = next.translation;
      draw();
      then?.();
    });
  }

  function draw() {
    for (const field of [...chosen, sentence, translation]) {
      field.draw(result);
      field.put(result);
    }
    translation.node.hidden = result.translation === null;
    total.textContent = words.total.replace('{count}', counted.format(result.total));
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
      if (view.node.clientWidth < NARROW) panel.scrollIntoView({ block: 'start', behavior: 'smooth' });
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
  return { node: view.node, pick };
}
