/**
 * Curves and points as pictures of SVG. The class of a line, point or text is its colour: `accent`, `other`, `quiet`.
 *
 * @typedef {[across: number, down: number]} Point
 */

import { makeSvg } from '../../kit/js/dom.js';

/** @param {Point} size @param {string} label @param {SVGElement[]} parts */
export const plot = ([width, height], label, parts) =>
  makeSvg('svg', { class: 'at-plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }, ...parts);

/** @param {Point} from @param {Point} to @param {string} colour */
export const line = ([x1, y1], [x2, y2], colour) => makeSvg('line', { x1, y1, x2, y2, class: colour });

/** @param {Point} at @param {number} radius @param {string} colour */
export const dot = ([cx, cy], radius, colour) => makeSvg('circle', { cx, cy, r: radius, class: colour });

/** @param {Point} at @param {string} text @param {'start' | 'middle' | 'end'} anchor @param {string} colour */
export const words = ([x, y], text, anchor, colour = 'quiet') => makeSvg('text', { x, y, 'text-anchor': anchor, class: colour }, text);

/** @param {Point[]} points @param {string} colour */
export const curve = (points, colour) =>
  makeSvg('polyline', { points: points.map((at) => at.map((one) => one.toFixed(1)).join(',')).join(' '), class: colour });

/**
 * Where points lie in the middle of a picture, with one scale for both axes, so that distances can be compared.
 * @param {Point[]} points y upwards @param {Point} size @param {Point} margins on both sides together
 * @returns {(point: Point) => Point}
 */
export function centred(points, [width, height], [beside, above]) {
  const [left, low] = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])));
  const [right, high] = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])));
  const scale = Math.min((width - beside) / (right - left || 1), (height - above) / (high - low || 1));
  return ([x, y]) => [width / 2 + (x - (left + right) / 2) * scale, height / 2 - (y - (low + high) / 2) * scale];
}
