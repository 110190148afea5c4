/**
 * Words as points on a plane, as wide as there is room, with labels that do not overlap.
 */

/** @import { Point } from '../../drawings/plot.js' */
/** @import { SlotView } from '../../text/slot_values.js' */

/** @typedef {{listed: string[], points: Point[], neighbours: {text: string, of: number, point: Point}[]}} WordVectors */

import { make, makeSvg } from '../../../kit/js/dom.js';
import { visibleText } from '../../../kit/js/text.js';
import { centred, dot, line, plot, words as wordsAt } from '../../drawings/plot.js';

const WORD_MAP_FONT = { word: '600 13px', near: '400 11.5px' }; // as in its style
const WORD_MAP_LINE = 15; // px that a label is high
const WORD_MAP_RINGS = [8, 20, 34, 50]; // px from a point to its label
const WORD_MAP_WAYS = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]];

/** @returns {SlotView} */
export function map() {
  const node = make('div', { class: 'at-word-map' });
  let value = null;
  let width = 0;
  const draw = () => {
    if (value && width) node.replaceChildren(wordMap(value, width));
  };
  new ResizeObserver(() => {
    if (node.clientWidth === width) return;
    width = node.clientWidth;
    draw();
  }).observe(node);
  const take = (next) => {
    value = next;
    draw();
  };
  return { node, draw: take };
}

/** @param {WordVectors} value @param {number} width */
function wordMap({ listed: words, points, neighbours }, width) {
  const all = [...points, ...neighbours.map(({ point }) => point)];
  const height = Math.round(Math.min(520, Math.max(360, width * 0.6)));
  const at = centred(all, [width, height], [2 * Math.min(90, width * 0.16), 68]);
  const positions = points.map(at);
  const near = neighbours.map(({ text, of, point }) => ({
    text: text.startsWith(' ') ? visibleText(text.slice(1)) : `…${visibleText(text)}`,
    from: positions[of], to: at(point),
  }));
  const label = wordMapLabels([...positions, ...near.map(({ to }) => to)], width, height);
  const wordLabels = words.flatMap((text, number) => label(visibleText(text), positions[number], 'word'));
  const nearLabels = near.flatMap(({ text, to }) => label(text, to, 'near'));
  return plot([width, height], `Map of ${words.join(', ')}`, [
    ...near.map(({ from, to }) => line(from, to, 'axis')),
    ...near.map(({ text, to }) => {
      const point = dot(to, 2.5, 'quiet at-word-near');
      point.append(makeSvg('title', {}, text));
      return point;
    }),
    ...positions.map((position) => dot(position, 4, 'accent at-word-dot')),
    ...nearLabels, ...wordLabels,
  ]);
}

/**
 * What puts labels beside points, in the order in which it is called: as near as nothing is covered. A word's label
 * stands on others rather than nowhere, a neighbour's is left out (its point still tells it to the pointer).
 * @param {[number, number][]} points
 */
function wordMapLabels(points, width, height) {
  const pen = document.createElement('canvas').getContext('2d');
  const family = getComputedStyle(document.querySelector('.attend-lesson')).fontFamily;
  const taken = points.map(([x, y]) => [x - 4, y - 4, x + 4, y + 4]);
  /** @param {number[]} box */
  const free = ([x0, y0, x1, y1]) => x0 >= 2 && x1 <= width - 2 && y0 >= 2 && y1 <= height - 2
    && !taken.some(([a, b, c, d]) => x0 < c && a < x1 && y0 < d && b < y1);
  return (/** @type {string} */ text, [x, y], /** @type {'word' | 'near'} */ kind) => {
    pen.font = `${WORD_MAP_FONT[kind]} ${family}`;
    const long = pen.measureText(text).width;
    const boxes = WORD_MAP_RINGS.flatMap((ring) => WORD_MAP_WAYS.map(([right, down]) => {
      const middle = [x + right * (ring + long / 2), y + down * (ring + WORD_MAP_LINE / 2 - 2)];
      const half = [long / 2, WORD_MAP_LINE / 2];
      const edges = [-1, 1].flatMap((end) => middle.map((at, axis) => at + end * half[axis]));
      return { ring, box: edges };
    })).filter(({ ring }) => kind === 'word' || ring < 30);
    const { ring, box } = boxes.find((one) => free(one.box)) ?? (kind === 'word' ? boxes[0] : { ring: 0, box: null });
    if (!box) return [];
    taken.push(box);
    const [x0, y0, x1] = box;
    const end = /** @type {Point} */ ([Math.max(x0, Math.min(x, x1)), y0 + WORD_MAP_LINE / 2]);
    return [...(ring > 10 ? [line([x, y], end, 'quiet at-word-lead')] : []),
      wordsAt([x0, y0 + WORD_MAP_LINE - 4], text, 'start', kind === 'word' ? 'at-word-label' : 'quiet at-near-label')];
  };
}
