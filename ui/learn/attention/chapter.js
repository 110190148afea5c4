/**
 * Attention by hand: weights from similarities, scaled scores, the mask, and independence of order.
 *
 * @typedef {{node: HTMLElement, draw: (result: any) => void}} AttentionPart
 */

/** @import { ChapterInput } from '../chapter_input.js' */

import { make, makeSvg } from '../../kit/js/dom.js';
import { signed } from '../../kit/js/text.js';
import { chapterInput, inputOf } from '../chapter_input.js';
import { plainButton, labelled, lessonPart, sideBySide, numberSlider, checkbox, paragraph } from '../lesson.js';
import { matrixTable } from '../matrix.js';

const FIELDS = [ // of a result: what the next question sends back
  'pair', 'similarities', 'vectors', 'dots', 'width', 'scores', 'mask', 'line', 'sentence', 'shuffle', 'positions',
];
const WORDS = ['apple', 'fruit']; // until the visitor types others
const AXES = ['x', 'y'];
const KEYS = ['key 1', 'key 2'];
const TOKENS = ['I', 'am', 'a', 'student'];

/** @type {import('../lesson.js').Build} */
export function build(root, ask) {
  const input = chapterInput(ask);
  const parts = [mixingPart, scalingPart, maskingPart, orderPart].map((part) => part(input));
  root.append(
    paragraph('Attention gives each word a new vector: a weighted sum of all the words’ vectors. The weights '
      + 'say which words it attends to. Change any number.'),
    sideBySide(input.reset), ...parts.map(({ node }) => node));
  ask({});

  return (result) => {
    const pair = result.pair.split(' ');
    const line = result.line.split(' ');
    input.update(inputOf(result, FIELDS), {
      similarities: { caption: `Similarity of ${pair[0]} to`, columnNames: pair }, vectors: { rowNames: pair },
      scores: { rowNames: line, columnNames: line },
    });
    parts.forEach(({ draw }) => draw(result));
  };
}

/** Weights from similarities. @param {ChapterInput} input @returns {AttentionPart} */
function mixingPart({ numbers, typed }) {
  const similarities = numbers('similarities', 'Similarity of apple to', { columnNames: WORDS });
  const vectors = numbers('vectors', 'Word vectors', { rowNames: WORDS, columnNames: AXES });
  const mixtures = ['division', 'softmax'].map((key) => {
    const weights = matrixTable({ caption: `Weights by ${key}`, columnNames: WORDS, scale: 'share' });
    const vector = matrixTable({ caption: 'New vector of apple', columnNames: AXES, scale: 'plain' });
    const sum = make('p', { class: 'at-quiet' });
    return { key, weights, vector, sum, node: make('div', {}, weights.node, vector.node, sum) };
  });
  const plane = make('div', { class: 'at-arrows-plot' });
  const node = lessonPart('Attention without parameters',
    paragraph('The simplest weights: each similarity divided by their sum, so that they add up to 1. Similarities '
      + 'of 1 and 0.25 give 0.8 and 0.2. That is plain division. Softmax gives 0.68 and 0.32 instead: it depends '
      + 'on differences, not ratios, so it works with any numbers, even negative ones. A lead of 1 makes a weight '
      + '2.72 times as large, a lead of 5 makes it 148 times as large. Transformers use softmax.'),
    sideBySide(typed('pair', 'Words', { maxlength: 60 })),
    make('div', { class: 'at-three' }, make('div', {}, similarities.node, vectors.node),
      ...mixtures.map((mixture) => mixture.node), plane));

  function draw(result) {
    const pair = result.pair.split(' ');
    mixtures.forEach(({ key, weights, vector, sum }) => {
      const mixed = result[key];
      weights.update(mixed.weights, { columnNames: pair });
      vector.update(mixed.vector, { caption: `New vector of ${pair[0]}` });
      sum.textContent = sumText(mixed.weights[0], result.vectors, mixed.vector[0]);
    });
    plane.replaceChildren(arrowsPicture(result));
  }

  return { node, draw };
}

/** The weighted sum written out. @param {number[]} weights @param {number[][]} vectors @param {number[]} mixed */
function sumText(weights, vectors, mixed) {
  const parts = weights.map((weight, index) => `${weight.toFixed(2)} · (${vectors[index].join(', ')})`);
  return signed(`${parts.join(' + ')} = (${mixed.map((one) => one.toFixed(2)).join(', ')})`);
}

/** Scores divided by the root of the width. @param {ChapterInput} input @returns {AttentionPart} */
function scalingPart({ numbers, change }) {
  const range = { min: 1, max: 256, value: 64 };
  const width = numberSlider('Width of the vectors', range, (value) => change({ width: value }));
  const dots = numbers('dots', 'Dot products q · k', { columnNames: KEYS });
  const keyTable = (caption, scale) => matrixTable({ caption, columnNames: KEYS, scale });
  const scaled = keyTable('Divided by √width', 'plain');
  const weights = keyTable('Softmax with scaling', 'share');
  const unscaled = keyTable('Softmax without scaling', 'share');
  const node = lessonPart('Why scores are scaled',
    paragraph('From here on, a word has three vectors: a query (what it asks for), a key (what it can be found by) and a '
      + 'value (what it gives). A score is the dot product of a query and a key.'),
    paragraph('Dot products of vectors with d numbers grow with d, typically like √d, and so do '
      + 'their differences. Softmax then gives almost everything to one word, and there its gradient nearly vanishes, so '
      + 'training gets slow. '
      + 'Dividing by √d prevents this (Vaswani et al., 2017, section 3.2.1; `attention_weights` in '
      + 'model/transformer/attention.py). The 112 and 96 come from a lecture and are far larger than chance would give: for vectors of '
      + '64 independent numbers with mean 0 and variance 1, the dot product has a standard deviation of √64 = 8. The '
      + 'slider changes only the divisor.'),
    sideBySide(width.node),
    make('div', { class: 'at-three' }, dots.node, scaled.node, weights.node, unscaled.node));

  function draw(result) {
    width.put(result.width);
    scaled.update(result.scaled);
    weights.update(result.weights);
    unscaled.update(result.unscaled);
  }

  return { node, draw };
}

/** The mask hides later words. @param {ChapterInput} input @returns {AttentionPart} */
function maskingPart({ numbers, typed, change }) {
  const names = { rowNames: TOKENS, columnNames: TOKENS };
  const scores = numbers('scores', 'Scores', names);
  const mask = checkbox('hide later words', (checked) => change({ mask: checked }));
  const masked = matrixTable({ caption: 'Scores that remain', ...names, scale: 'plain' });
  const looked = matrixTable({ caption: 'Softmax, row by row', ...names, scale: 'share' });
  const node = lessonPart('The mask',
    paragraph('In training, a model reads a whole text at once and predicts every next word, so no position may see '
      + 'the words after it. Scores of later words are set to −∞ before the softmax, so their weights become 0 and the rest of the row still adds up to 1.'),
    sideBySide(typed('line', 'Words', { maxlength: 60 })), sideBySide(mask.node),
    make('div', { class: 'at-three' }, scores.node, masked.node, looked.node));

  function draw(result) {
    const words = result.line.split(' ');
    mask.put(result.mask);
    masked.update(result.masked, { rowNames: words, columnNames: words });
    looked.update(result.looked, { rowNames: words, columnNames: words });
  }

  return { node, draw };
}

/** One sentence in two orders. @param {ChapterInput} input @returns {AttentionPart} */
function orderPart({ change }) {
  let shuffles = 0;
  const sentence = make('input', {
    type: 'text', class: 'at-lesson-wide', maxlength: 200,
    onchange: () => change({ sentence: sentence.value, shuffle: 0 }),
  });
  const shuffle = plainButton('Shuffle the words', () => change({ shuffle: ++shuffles }));
  const positions = checkbox('add positions', (checked) => change({ positions: checked }));
  const [before, after] = [matrixTable({}), matrixTable({})];
  const moved = make('p', { class: 'at-lesson-text', role: 'status' });
  const node = lessonPart('Attention ignores word order',
    paragraph('Every word attends to every word, with its own vector as query, key and value (the model’s '
      + '`attend`). When you shuffle the words, each one gets exactly the same vector wherever it stands, so “the '
      + 'dog bites the man” and “the man bites the dog” look the same. Add positions and they differ.'),
    sideBySide(labelled('Sentence', sentence), shuffle, positions.node),
    moved, make('div', { class: 'at-two' }, before.node, after.node));
  const put = (table, order, words, vectors) => table.update(vectors, {
    caption: `${order}: each word’s new vector`, rowNames: words,
    columnNames: vectors[0].map((_, index) => String(index + 1)),
  });

  function draw(result) {
    shuffles = result.shuffle;
    sentence.value = result.sentence;
    positions.put(result.positions);
    put(before, 'As typed', result.words, result.before);
    put(after, 'Shuffled', result.shuffled, result.after);
    moved.textContent = shuffleVerdict(result);
  }

  return { node, draw };
}

/** @param {{moved: number, shuffle: number, positions: boolean}} result what the shuffle changed, in words */
function shuffleVerdict({ moved, shuffle, positions }) {
  if (!shuffle) return 'Shuffle the words to see what happens to their vectors.';
  if (moved < 1e-5) return 'No vector has changed: attention alone cannot tell one order from another.';
  return `The vectors have changed, by up to ${moved}${positions ? ': with positions, word order matters.' : '.'}`;
}

/** The word vectors as arrows, and what apple becomes by division. */
function arrowsPicture({ pair, vectors, division, softmax }) {
  const words = pair.split(' ');
  const arrows = [...vectors.map((point, index) => [point, words[index], 'at-arrow-word']),
    [softmax.vector[0], 'by softmax', 'at-arrow-softmax'], [division.vector[0], 'by division', 'at-arrow-new']];
  const across = [0, ...arrows.map(([[x]]) => x)];
  const down = [0, ...arrows.map(([[, y]]) => y)];
  const left = Math.min(...across);
  const low = Math.min(...down);
  const scale = Math.max(1e-9, Math.max(...across) - left, Math.max(...down) - low); // the same both ways
  const at = ([x, y]) => [70 + ((x - left) / scale) * 180, 205 - ((y - low) / scale) * 180];
  const [zero, ground] = at([0, 0]);
  const svg = makeSvg('svg', { viewBox: '0 0 320 225', role: 'img', 'aria-label': 'The word vectors as arrows' },
    makeSvg('line', { x1: 60, y1: ground, x2: 300, y2: ground, class: 'at-arrows-axis' }),
    makeSvg('line', { x1: zero, y1: 15, x2: zero, y2: 215, class: 'at-arrows-axis' }));
  arrows.forEach(([point, name, kind], index) => {
    const [x, y] = at(point);
    const isWord = index < words.length; // beside its arrow's head, a mixture above it: each on a side of its own
    const leftwards = name === 'by softmax' || (isWord && point[0] < (left + Math.max(...across)) / 2);
    const label = makeSvg('text', {
      x: x + (leftwards ? -1 : 1) * (isWord ? 8 : 2), y: y + (isWord ? 5 : -9), class: kind,
      'text-anchor': leftwards ? 'end' : 'start',
    });
    label.textContent = name;
    svg.append(makeSvg('line', { x1: zero, y1: ground, x2: x, y2: y, class: kind }),
      makeSvg('circle', { cx: x, cy: y, r: 3.5, class: kind }), label);
  });
  return svg;
}
