/**
 * An array of the model as a heat map, whose numbers are read under the pointer or with the arrow keys.
 *
 * @typedef {{name: string, rowNames: string[], columnNames: string[], isShare: boolean, values: string, largest: number,
 *   strong: number}} HeatValues `values`: signed numbers of 16 bits, row after row, as shares of the largest; `strong`: where
 *   the colours of other numbers than shares end
 */

import { percent, signed } from '../../kit/js/text.js';
import { matrixPicture } from '../drawings/picture.js';

const STEPS = 32767; // on each side of zero
const DEEPEST = 127; // of a colour

/** @param {HeatValues} heat */
export function heatMap({ name, rowNames, columnNames, isShare, values, largest, strong }) {
  const numbers = new Int16Array(Uint8Array.from(atob(values), (character) => character.charCodeAt(0)).buffer);
  const columns = numbers.length / rowNames.length;
  const valueAt = (row, column) => (numbers[row * columns + column] / STEPS) * largest;
  const picture = matrixPicture({
    name, across: 'numbers', down: '',
    describe: (row, column) => [`${rowNames[row]}, ${columnNames.length ? columnNames[column] : `number ${column + 1}`}: ${numberText(valueAt(row, column), isShare)}`],
  });
  /** Once it is in the page, which gives it its colours. */
  function draw() {
    const colour = (value) => (isShare ? Math.sqrt(value / largest) : Math.max(-1, Math.min(1, value / strong)));
    const colours = numbers.map((one) => Math.round(DEEPEST * colour((one / STEPS) * largest)));
    picture.update(Int8Array.from(colours), rowNames.length, columns, rowNames, columnNames);
  }
  return { node: picture.node, draw };
}

/** @param {number} value @param {boolean} isShare */
const numberText = (value, isShare) => (isShare ? percent(value, 1) : signed(value.toFixed(3)));
