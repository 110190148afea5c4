/**
 * A word in its context: one word in sentences of two meanings, layer by layer, as a map of its vectors, their cosines, and
 * what these are worth; and what a model that reads from left to right expects after it.
 *
 * @typedef {{cosines: number[][], same: number, different: number, control: number, points: [number, number][],
 *   shares: [number, number]}} ContextLayer the averages of cosines within a meaning, between the two, and with other words
 * @typedef {{word: string, sentences: string[], split: number, layers: ContextLayer[]}} ContextResult `split`: how many of the
 *   sentences have the first meaning
 */

/** @import { Point } from '../../drawings/plot.js' */
/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make, makeSvg } from '../../../kit/js/dom.js';
import { percent, tokenChip } from '../../../kit/js/text.js';
import { numberSlider, sideBySide } from '../../lesson.js';
import { matrixTable } from '../../drawings/matrix.js';
import { centred, chart, dot, plot, words } from '../../drawings/plot.js';
import { redrawn } from '../../text/slot_values.js';

/** @type {Point} */
const SIZE = [420, 240];
/** @type {[key: 'same' | 'different' | 'control', name: string, colour: string][]} */
const AVERAGES = [['same', 'same meaning', 'accent'], ['different', 'different meanings', 'other'], ['control', 'other words', 'quiet']];

/** @param {SlotWiring} wiring @returns {SlotView} */
export function layers({ label }) {
  /** @type {ContextResult} */
  let result;
  let chosen = -1; // the layer; the last until the reader chooses
  const layer = numberSlider(label, { min: 0, max: 6 }, (value) => {
    chosen = value;
    if (result) paint();
  });
  const [map, curves] = [make('div'), make('figure')];
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
export const following = () => redrawn(make('ol', { class: 'at-md at-listed at-following' }), ({ following: all }) => all.map(([text, tokens]) =>
  make('li', {}, `${text.slice(0, 80)} … `, ...tokens.flatMap(([token, share]) => [make('span', {}, tokenChip(token), ` ${percent(share)}`), '  ']))));

/** The vectors on a plane, with the numbers of their sentences. @param {[number, number][]} points @param {number} split @param {string} word */
function pointsPicture(points, split, word) {
  const at = centred(points, SIZE, [60, 50]);
  return plot(SIZE, `Map of “${word}” in ${points.length} sentences`, points.flatMap((point, index) => {
    const [x, y] = at(point);
    const mark = index < split ? dot([x, y], 6, 'accent') : makeSvg('rect', { x: x - 5, y: y - 5, width: 10, height: 10, class: 'other' });
    return [mark, words([x + 10, y + 4], String(index + 1), 'start')];
  }));
}

/** The averages over the layers. @param {ContextLayer[]} all the layers @param {number} chosen */
const curvesPicture = (all, chosen) => chart(SIZE, 'Average cosines by layer', AVERAGES.map(([key, name, colour]) => ({
  name, colour, points: all.map((layer, index) => [index, layer[key]]),
})), { heights: [[0, '0'], [0.5, '0.5'], [1, '1']], margins: [30, 130], ends: ['0', `layer ${all.length - 1}`], marks: [[chosen, '']] });
