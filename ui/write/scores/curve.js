/**
 * The curve of surprise over a text, one for each model, as SVG that can be saved.
 */

import { makeSvg } from '../../kit/js/dom.js';
import { addCellCursor } from '../../kit/js/keys.js';
import { counted } from '../../kit/js/text.js';

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [170, 40, 12, 10, 24];
const NARROWEST = 2; // pixels of a point of the curve
const LEAP = 10; // tokens that the keys up and down go

/** How many points a curve of this width has. @param {number} width */
export const pointsIn = (width) => Math.max(2, Math.floor((width - LEFT - RIGHT) / NARROWEST));

/**
 * @param {{curves: (number | null)[][], unit: string, bytes: number, width: number, title: string, current: () => number, count: number,
 *   indexAt: (place: number) => number, point: (index: number | null) => void, pick: (index: number) => void}} about `bytes`: of the text;
 *   `count` tokens can be pointed at, `current` is the selected one
 */
export function makeCurve({ curves, unit, bytes, width, title, current, count, indexAt, point, pick }) {
  const top = roundUp(Math.max(...curves.flat().map((value) => value ?? 0)));
  const room = width - LEFT - RIGHT;
  const x = (place) => LEFT + (place / bytes) * room;
  const y = (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const axis = [0, top / 2, top].flatMap((value) => [
    makeSvg('line', { class: 'at-rule', x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
    makeSvg('text', { class: 'at-tick', x: LEFT - 6, y: y(value), 'text-anchor': 'end', 'dominant-baseline': 'central' }, String(value))]);
  const below = { class: 'at-tick', y: HEIGHT - 8 };
  const names = [makeSvg('text', { ...below, x: LEFT }, unit), makeSvg('text', { ...below, x: width - RIGHT, 'text-anchor': 'end' }, `${counted.format(bytes)} bytes of text`)];
  const lines = curves.map((values, i) => makeSvg('polyline', {
    class: `at-curve at-curve-${i}`,
    points: values.flatMap((value, part) => (value === null ? [] : [`${x(((part + 0.5) / values.length) * bytes).toFixed(1)},${y(value).toFixed(1)}`])).join(' '),
  }));
  const cursor = makeSvg('rect', { class: 'at-scores-here', y: TOP, height: HEIGHT - TOP - BOTTOM });
  const node = makeSvg('svg', { class: 'at-curves', viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img', tabindex: 0, 'aria-label': `${title}; use the arrow keys to move, Enter to choose a token` },
    ...axis, ...names, cursor, ...lines);
  let here = /** @type {number | null} */ (null);
  const tell = (index) => {
    here = index;
    point(index);
  };
  addCellCursor(node, {
    cellAt: (event) => {
      const box = node.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * width;
      return { index: indexAt(((at - LEFT) / room) * bytes) };
    },
    current: () => ({ index: here ?? current() }),
    beside: ({ index }, right, down) => ({ index: Math.min(count - 1, Math.max(0, index + right + LEAP * down)) }),
    point: (cell) => tell(cell ? cell.index : null),
    pick: ({ index }) => pick(index),
  });

  /** Mark a token. @param {{from: number, to: number}} span */
  function mark({ from, to }) {
    const wide = Math.max(1.5, x(to) - x(from));
    cursor.setAttribute('x', String((x(from) + x(to) - wide) / 2));
    cursor.setAttribute('width', String(wide));
  }

  return { node, mark };
}

/** The next 1, 2 or 5 with zeros, so that its half is short as well. @param {number} value */
export function roundUp(value) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 0.1)));
  return (([1, 2, 5].find((step) => step * unit >= value)) ?? 10) * unit;
}
