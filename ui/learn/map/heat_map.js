/**
 * An array of the model as a heat map, whose numbers are read under the pointer or with the arrow keys.
 *
 * @typedef {{name: string, rowNames: string[], columnNames: string[], isShare: boolean, values: string, largest: number,
 *   strong: number}} HeatValues `values`: packed row after row, as shares of the largest; `strong`: where the colours of
 *   other numbers than shares end
 */

import { percent, signed } from '../../kit/js/text.js';
import { unpackedShares } from '../drawings/packed.js';
import { matrixPicture } from '../drawings/picture.js';

const DEEPEST = 127; // of a colour

/** @param {HeatValues} heat */
export function heatMap({ name, rowNames, columnNames, isShare, values, largest, strong }) {
  const numbers = unpackedShares(values).map((share) => share * largest);
  const columns = numbers.length / rowNames.length;
  const valueAt = (row, column) => numbers[row * columns + column];
  const picture = matrixPicture({
    name, across: 'numbers', down: '',
    describe: (row, column) => [`${rowNames[row]}, ${columnNames.length ? columnNames[column] : `number ${column + 1}`}: ${numberText(valueAt(row, column), isShare)}`],
  });
  /** Once it is in the page, which gives it its colours. */
  function draw() {
    const colour = (value) => (isShare ? Math.sqrt(value / largest) : Math.max(-1, Math.min(1, value / strong)));
    const colours = Int8Array.from(numbers, (one) => Math.round(DEEPEST * colour(one)));
    picture.update(colours, rowNames.length, columns, rowNames, columnNames);
  }
  return { node: picture.node, draw };
}

/** @param {number} value @param {boolean} isShare */
const numberText = (value, isShare) => (isShare ? percent(value, 1) : signed(value.toFixed(3)));
