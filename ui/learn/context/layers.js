/**
 * One word in sentences of two meanings, layer by layer: a map of its vectors, their cosines, and what they are worth.
 *
 * @typedef {{cosines: number[][], same: number, different: number, control: number, points: [number, number][],
 *   shares: [number, number]}} ContextLayer the averages of cosines within a meaning, between the two, and with other words
 * @typedef {{encoder: string, encoders: [string, string][], recorded: boolean, missing: string, words: string[], word: string,
 *   first: string, second: string, sentences: string[], split: number, layers: ContextLayer[]}} ContextResult `split`: how
 *   many of the sentences have the first meaning; `missing`: a word that was asked for and isn't recorded
 */

/** @import { ChapterInput } from '../chapter_input.js' */
/** @import { ContextPart } from './chapter.js' */

import { make, makeSvg } from '../../kit/js/dom.js';
import { percent } from '../../kit/js/text.js';
import { labelled, lessonPart, numberSlider, paragraph, plainButton, sideBySide } from '../lesson.js';
import { matrixTable } from '../matrix.js';

const [WIDE, HIGH] = [420, 240];
/** @type {[key: 'same' | 'different' | 'control', name: string][]} */
const AVERAGES = [['same', 'same meaning'], ['different', 'different meanings'], ['control', 'other words']];

/** @param {ChapterInput} input @returns {ContextPart} */
export function layersPart({ change }) {
  /** @type {ContextResult} */
  let shown;
  let chosen = -1; // the layer; the last until the reader chooses
  const encoder = make('select', { onchange: () => change({ encoder: encoder.value }) });
  const word = make('input', { type: 'text', size: 10, onchange: () => change({ word: word.value }) });
  const examples = sideBySide();
  const meanings = [['first', 'One meaning (circles)'], ['second', 'The other (squares)']].map(([key, name]) => {
    const field = make('textarea', { rows: 4, onchange: () => change({ [key]: field.value }) });
    return { key, field, node: labelled(name, field) };
  });
  const source = make('p', { class: 'at-quiet' });
  const layer = numberSlider('Layer', { min: 0, max: 6, value: 6 }, (value) => {
    chosen = value;
    paint();
  });
  const [map, curves] = [make('div', { class: 'at-context-map' }), make('figure', { class: 'at-context-curves' })];
  const outcome = make('p', { class: 'at-lesson-text', role: 'status' });
  const table = matrixTable({ scale: 'share' });
  const node = lessonPart('The same word, layer by layer',
    paragraph('An encoder such as BERT reads a whole sentence at once, so a word takes from both sides. Below are its '
      + 'vectors for one word, used with two meanings: one point per sentence. Move the slider from the embeddings (0) to the '
      + 'last layer.'),
    sideBySide(labelled('Model', encoder), labelled('Word', word)), examples,
    make('div', { class: 'at-two at-context-sentences' }, ...meanings.map((meaning) => meaning.node)), source,
    sideBySide(layer.node), make('div', { class: 'at-two' }, map, curves), outcome,
    paragraph('A cosine means little by itself: in some models the vectors of any two words are alike in the upper layers '
      + '(Ethayarajh, 2019). So compare with the control, the average cosine of the word with other words from the other '
      + 'sentences. In the recording, the vectors of layer 0 differ only by position, so both upper curves begin near 1.'),
    table.node);

  /** @param {ContextResult} result */
  function draw(result) {
    if (shown && (shown.layers.length !== result.layers.length)) chosen = -1;
    shown = result;
    encoder.replaceChildren(...result.encoders.map(([value, text]) =>
      make('option', { value, text, selected: value === result.encoder })));
    word.value = result.word;
    word.readOnly = result.recorded;
    meanings.forEach(({ key, field }) => {
      field.value = result[key];
      field.readOnly = result.recorded;
    });
    examples.replaceChildren(...result.words.map((one) => {
      const button = plainButton(one, () => change({ word: one, first: undefined, second: undefined }));
      button.setAttribute('aria-pressed', String(one === result.word));
      return button;
    }));
    source.textContent = result.recorded
      ? `${result.missing ? `“${result.missing}” isn’t recorded, so this is “${result.word}”. ` : ''}Recorded from ${result.encoder}, a `
        + 'six-layer BERT trained to compare sentences. To use your own sentences, load an encoder in the settings (such as '
        + 'bert-base-uncased), switch back to another model, and choose the encoder here.'
      : 'Computed now. The word must occur in every sentence.';
    layer.reach(0, result.layers.length - 1);
    paint();
  }

  function paint() {
    const at = chosen < 0 ? shown.layers.length - 1 : chosen;
    layer.put(at);
    const { cosines, same, different, control, points, shares } = shown.layers[at];
    map.replaceChildren(pointsPicture(points, shown.split, shown.word));
    curves.replaceChildren(curvesPicture(shown.layers, at));
    const share = percent(shares[0] + shares[1], 0);
    outcome.textContent = `After layer ${at}: average cosine ${same.toFixed(2)} within a meaning, ${different.toFixed(2)} between `
      + `the two, ${control.toFixed(2)} with other words. The map shows ${share} of the variance between the points.`;
    const names = shown.sentences.map((_, index) => String(index + 1));
    table.update(cosines, { caption: `“${shown.word}” after layer ${at}: cosines`, rowNames: names, columnNames: names });
  }

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
    svgText(across + 10, down + 4, String(index + 1), 'start'));
  });
  return svg;
}

/** The averages over the layers. @param {ContextLayer[]} layers @param {number} at */
function curvesPicture(layers, at) {
  const [left, right, top, bottom] = [30, 120, 12, 24]; // margins
  const across = (index) => left + ((WIDE - left - right) * index) / (layers.length - 1);
  const up = (cosine) => HIGH - bottom - (HIGH - top - bottom) * Math.max(0, Math.min(1, cosine));
  const svg = makeSvg('svg', { viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img', 'aria-label': 'Average cosines by layer' },
    ...[0, 0.5, 1].flatMap((cosine) => [
      makeSvg('line', { x1: left, x2: WIDE - right, y1: up(cosine), y2: up(cosine), class: 'at-context-grid' }),
      svgText(left - 6, up(cosine) + 4, String(cosine), 'end'),
    ]),
    makeSvg('line', { x1: across(at), x2: across(at), y1: up(1), y2: up(0), class: 'at-context-at' }),
    svgText(across(0), HIGH - 6, '0', 'middle'), svgText(across(layers.length - 1), HIGH - 6, `layer ${layers.length - 1}`, 'middle'));
  AVERAGES.forEach(([key, name]) => {
    const path = layers.map((layer, index) => `${across(index).toFixed(1)},${up(layer[key]).toFixed(1)}`).join(' ');
    svg.append(makeSvg('polyline', { points: path, 'data-average': key }),
      svgText(WIDE - right + 8, up(layers.at(-1)[key]) + 4, name, 'start'));
  });
  return svg;
}

/** @param {number} x @param {number} y @param {string} content @param {string} anchor */
function svgText(x, y, content, anchor) {
  const node = makeSvg('text', { x, y, 'text-anchor': anchor });
  node.textContent = content;
  return node;
}
