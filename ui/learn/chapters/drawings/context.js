/**
 * A word in its context: one word in sentences of two meanings, layer by layer, as a map of its vectors, their cosines, and
 * what these are worth; and what a model that reads from left to right expects after it.
 *
 * @typedef {{cosines: number[][], same: number, different: number, control: number, points: [number, number][],
 *   shares: [number, number]}} ContextLayer the averages of cosines within a meaning, between the two, and with other words
 * @typedef {{word: string, sentences: string[], split: number, layers: ContextLayer[]}} ContextResult `split`: how many of the
 *   sentences have the first meaning
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make, makeSvg } from '../../../kit/js/dom.js';
import { percent, tokenChip } from '../../../kit/js/text.js';
import { numberSlider, sideBySide } from '../../lesson.js';
import { matrixTable } from '../../drawings/matrix.js';

const [WIDE, HIGH] = [420, 240];
/** @type {[key: 'same' | 'different' | 'control', name: string][]} */
const AVERAGES = [['same', 'same meaning'], ['different', 'different meanings'], ['control', 'other words']];

/** @param {SlotWiring} wiring @returns {SlotView} */
export function layers({ label }) {
  /** @type {ContextResult} */
  let result;
  let chosen = -1; // the layer; the last until the reader chooses
  const layer = numberSlider(label, { min: 0, max: 6 }, (value) => {
    chosen = value;
    paint();
  });
  const [map, curves] = [make('div', { class: 'at-context-map' }), make('figure', { class: 'at-context-curves' })];
  const outcome = make('p', { class: 'at-lesson-text', role: 'status' });
  const table = matrixTable({ scale: 'share' });
  const node = make('div', {}, sideBySide(layer.node), make('div', { class: 'at-two' }, map, curves), outcome, table.node);

  function paint() {
    const at = chosen < 0 ? result.layers.length - 1 : chosen;
    layer.put(at);
    const { cosines, same, different, control, points, shares } = result.layers[at];
    map.replaceChildren(pointsPicture(points, result.split, result.word));
    curves.replaceChildren(curvesPicture(result.layers, at));
    const share = percent(shares[0] + shares[1], 0);
    outcome.textContent = `After layer ${at}: average cosine ${same.toFixed(2)} within a meaning, ${different.toFixed(2)} between `
      + `the two, ${control.toFixed(2)} with other words. The map shows ${share} of the variance between the points.`;
    const names = result.sentences.map((_, index) => String(index + 1));
    table.update(cosines, { caption: `“${result.word}” after layer ${at}: cosines`, rowNames: names, columnNames: names });
  }

  function draw(/** @type {ContextResult} */ next) {
    if (result && result.layers.length !== next.layers.length) chosen = -1;
    result = next;
    layer.reach(0, next.layers.length - 1);
    paint();
  }

  return { node, draw };
}

/** What could follow each text. @returns {SlotView} */
export function following() {
  const node = make('ol', { class: 'at-following' });
  const draw = (result) => node.replaceChildren(...result.following.map(([line, tokens]) => make('li', {}, `${line.slice(0, 80)} … `,
    ...tokens.flatMap(([token, share]) => [make('span', {}, tokenChip(token), ` ${percent(share)}`), '  ']))));
  return { node, draw };
}

/** The vectors on a plane, with the numbers of their sentences. @param {[number, number][]} points @param {number} split @param {string} word */
function pointsPicture(points, split, word) {
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min((WIDE - 60) / (right - left || 1), (HIGH - 50) / (high - low || 1)); // the same both ways
  const svg = makeSvg('svg', {
    viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img', 'aria-label': `Map of “${word}” in ${points.length} sentences`,
  });
  points.forEach(([x, y], index) => {
    const across = WIDE / 2 + (x - (left + right) / 2) * scale;
    const down = HIGH / 2 - (y - (low + high) / 2) * scale;
    const second = index >= split;
    svg.append(second
      ? makeSvg('rect', { x: across - 5, y: down - 5, width: 10, height: 10, class: 'at-context-second' })
      : makeSvg('circle', { cx: across, cy: down, r: 6, class: 'at-context-first' }),
    makeSvg('text', { x: across + 10, y: down + 4, 'text-anchor': 'start' }, String(index + 1)));
  });
  return svg;
}

/** The averages over the layers. @param {ContextLayer[]} all the layers @param {number} at */
function curvesPicture(all, at) {
  const [left, right, top, bottom] = [30, 120, 12, 24]; // margins
  const across = (index) => left + ((WIDE - left - right) * index) / (all.length - 1);
  const up = (cosine) => HIGH - bottom - (HIGH - top - bottom) * Math.max(0, Math.min(1, cosine));
  const svg = makeSvg('svg', { viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img', 'aria-label': 'Average cosines by layer' },
    ...[0, 0.5, 1].flatMap((cosine) => [
      makeSvg('line', { x1: left, x2: WIDE - right, y1: up(cosine), y2: up(cosine), class: 'at-context-grid' }),
      makeSvg('text', { x: left - 6, y: up(cosine) + 4, 'text-anchor': 'end' }, String(cosine)),
    ]),
    makeSvg('line', { x1: across(at), x2: across(at), y1: up(1), y2: up(0), class: 'at-context-at' }),
    makeSvg('text', { x: across(0), y: HIGH - 6, 'text-anchor': 'middle' }, '0'), makeSvg('text', { x: across(all.length - 1), y: HIGH - 6, 'text-anchor': 'middle' }, `layer ${all.length - 1}`));
  AVERAGES.forEach(([key, name]) => {
    const path = all.map((layer, index) => `${across(index).toFixed(1)},${up(layer[key]).toFixed(1)}`).join(' ');
    svg.append(makeSvg('polyline', { points: path, 'data-average': key }),
      makeSvg('text', { x: WIDE - right + 8, y: up(all.at(-1)[key]) + 4, 'text-anchor': 'start' }, name));
  });
  return svg;
}
