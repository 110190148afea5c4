/**
 * Today's models: three activations as curves.
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make } from '../../../kit/js/dom.js';
import { curve, line, plot, words } from '../../drawings/plot.js';

const [WIDE, HIGH] = [420, 180];
const COLOURS = ['quiet', 'accent', 'other'];

/** @param {SlotWiring} wiring @returns {SlotView} */
export function activations({ label }) {
  const node = make('div', { class: 'at-today-curves' });

  function draw(/** @type {{points: number[], curves: Record<string, number[]>}} */ { points, curves }) {
    if (node.children.length) return; // they never change
    const [first, last] = [points[0], points.at(-1)];
    /** @returns {[number, number]} */
    const at = (/** @type {number} */ x, /** @type {number} */ y) =>
      [20 + ((x - first) / (last - first)) * (WIDE - 90), HIGH - 20 - ((y + 0.5) / 4.5) * (HIGH - 30)];
    node.append(plot([WIDE, HIGH], label, [
      line(at(first, 0), at(last, 0), 'axis'), line(at(0, -0.5), at(0, 4), 'axis'),
      ...Object.entries(curves).flatMap(([name, values], index) => [curve(values.map((y, x) => at(points[x], y)), COLOURS[index]),
        words([WIDE - 66, 24 + 18 * index], name, 'start', index ? COLOURS[index] : 'plain')]),
    ]));
  }

  return { node, draw };
}
