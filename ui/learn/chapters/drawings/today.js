/**
 * Today's models: three activations as curves.
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make, makeSvg } from '../../../kit/js/dom.js';

const [WIDE, HIGH] = [420, 180];

/** @param {SlotWiring} wiring @returns {SlotView} */
export function activations({ label }) {
  const node = make('div', { class: 'at-today-curves' });

  function draw(/** @type {{points: number[], curves: Record<string, number[]>}} */ { points, curves }) {
    if (node.children.length) return; // they never change
    const x = (value) => 20 + ((value - points[0]) / (points.at(-1) - points[0])) * (WIDE - 90);
    const y = (value) => HIGH - 20 - ((value + 0.5) / 4.5) * (HIGH - 30);
    node.append(makeSvg('svg', { viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img', 'aria-label': label },
      makeSvg('line', { x1: x(points[0]), x2: x(points.at(-1)), y1: y(0), y2: y(0), class: 'at-axis-line' }),
      makeSvg('line', { x1: x(0), x2: x(0), y1: y(-0.5), y2: y(4), class: 'at-axis-line' }),
      ...Object.entries(curves).flatMap(([name, values], index) => [
        makeSvg('polyline', {
          points: values.map((value, at) => `${x(points[at]).toFixed(1)},${y(value).toFixed(1)}`).join(' '), 'data-curve': index,
        }),
        makeSvg('text', { x: WIDE - 66, y: 24 + 18 * index, 'data-curve': index }, name)])));
  }

  return { node, draw };
}
