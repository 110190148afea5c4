/**
 * Curves and points as pictures of SVG. The class of a line, point or text is its colour: `axis`, `accent`, `other`, `quiet`,
 * `attention`, or "" for that of the text.
 *
 * @typedef {[across: number, down: number]} Point
 * @typedef {{points: Point[], colour: string, name?: string, dots?: boolean}} Curve `points`: y upwards; `name` stands at its end
 */

import { makeSvg } from '../../kit/js/dom.js';

const [TOP, BOTTOM] = [14, 20]; // of a chart: room for the words above and below its curves
const WORDS = 15; // the height of a line of words

/** No wider than its own unit is a pixel. @param {Point} size @param {string} label @param {SVGElement[]} parts */
export function plot([width, height], label, parts) {
  const svg = makeSvg('svg', { class: 'at-plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }, ...parts);
  svg.style.maxWidth = `${width}px`;
  return svg;
}

/** @param {Point} from @param {Point} to @param {string} colour */
export const line = ([x1, y1], [x2, y2], colour) => makeSvg('line', { x1, y1, x2, y2, class: colour });

/** @param {Point} at @param {number} radius @param {string} colour */
export const dot = ([cx, cy], radius, colour) => makeSvg('circle', { cx, cy, r: radius, class: colour });

/** @param {Point} at @param {string} text @param {'start' | 'middle' | 'end'} anchor @param {string} colour */
export const words = ([x, y], text, anchor, colour = 'quiet') => makeSvg('text', { x, y, 'text-anchor': anchor, class: colour }, text);

/** @param {Point[]} points @param {string} colour */
const polyline = (points, colour) =>
  makeSvg('polyline', { points: points.map((at) => at.map((one) => one.toFixed(1)).join(',')).join(' '), class: colour });

/**
 * Curves over one axis.
 * @param {Point} size @param {string} label @param {Curve[]} curves
 * @param {{heights: [y: number, text: string][], range?: [low: number, high: number], margins: [left: number, right: number],
 *   ends?: [from: string, to: string], marks?: [x: number, text: string][]}} about `heights`: where lines lie, with their
 *   numbers, from the lowest to the highest; `range`: where curves go beyond these; `ends`: what stands below both ends of the axis
 */
export function chart(size, label, curves, { heights, range = [heights[0][0], heights.at(-1)[0]], margins: [left, right], ends = ['', ''], marks = [] }) {
  const [low, high] = range;
  const all = curves.flatMap(({ points }) => points.map(([x]) => x));
  const [first, last] = [Math.min(...all), Math.max(...all)];
  const [end, ground] = [size[0] - right, size[1] - BOTTOM];
  /** @returns {Point} */
  const at = (/** @type {Point} */ [x, y]) =>
    [left + ((end - left) * (x - first)) / (last - first || 1), ground - ((ground - TOP) * (Math.max(low, Math.min(high, y)) - low)) / (high - low)];
  const names = curves.filter(({ name }) => name).map(({ name, points, colour }) => ({ name, colour, y: at(points.at(-1))[1] + 4 }))
    .toSorted((one, other) => one.y - other.y);
  names.forEach((one, index) => { // each below the one before
    one.y = Math.max(one.y, (names[index - 1]?.y ?? -Infinity) + WORDS);
  });
  return plot(size, label, [
    ...heights.flatMap(([y, text]) => [line(at([first, y]), at([last, y]), 'axis'), words([left - 6, at([first, y])[1] + 4], text, 'end')]),
    ...marks.flatMap(([x, text]) => [line(at([x, high]), at([x, low]), 'quiet dashed'), words([at([x, high])[0], TOP - 4], text, 'middle')]),
    ...curves.flatMap(({ points, colour, dots }) => [polyline(points.map(at), colour), ...(dots ? points.map((point) => dot(at(point), 3, colour)) : [])]),
    ...names.map(({ name, y, colour }) => words([end + 8, y], name, 'start', colour)),
    words([left, size[1] - 5], ends[0], 'start'), words([end, size[1] - 5], ends[1], 'end'),
  ]);
}

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
