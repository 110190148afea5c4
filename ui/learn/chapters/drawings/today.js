/**
 * Today's models: three activations as curves.
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make } from '../../../kit/js/dom.js';
import { chart } from '../../drawings/plot.js';
import { redrawn } from '../../text/slot_values.js';

const COLOURS = ['quiet', 'accent', 'other'];

/** @param {SlotWiring} wiring @returns {SlotView} */
export const activations = ({ label }) => redrawn(make('div'), (/** @type {{points: number[], curves: Record<string, number[]>}} */ { points, curves }) =>
  [chart([420, 180], label, Object.entries(curves).map(([name, values], index) => ({
    name, colour: COLOURS[index], points: values.map((y, x) => [points[x], y]),
  })), { heights: [[0, '0']], range: [-0.5, 4], margins: [20, 70], marks: [[0, '']] })]);
