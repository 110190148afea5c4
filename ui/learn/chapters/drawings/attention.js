/**
 * Attention by hand: the word vectors as arrows.
 */

/** @import { Point } from '../../drawings/plot.js' */
/** @import { SlotView } from '../../text/slot_values.js' */

import { make } from '../../../kit/js/dom.js';
import { dot, line, plot, words } from '../../drawings/plot.js';
import { redrawn } from '../../text/slot_values.js';

/** The word vectors, and what the first of them becomes in each way. @returns {SlotView} */
export const plane = () => redrawn(make('div'), (result) => [arrowsPicture(result)]);

function arrowsPicture({ pair, vectors, division, softmax }) {
  const names = pair.split(' ');
  const arrows = [...vectors.map((point, index) => [point, names[index], 'quiet']),
    [softmax.vector[0], 'by softmax', 'other'], [division.vector[0], 'by division', 'accent']];
  const across = [0, ...arrows.map(([[x]]) => x)];
  const down = [0, ...arrows.map(([[, y]]) => y)];
  const left = Math.min(...across);
  const low = Math.min(...down);
  const scale = Math.max(1e-9, Math.max(...across) - left, Math.max(...down) - low); // the same both ways
  /** @returns {Point} */
  const at = ([x, y]) => [70 + ((x - left) / scale) * 180, 205 - ((y - low) / scale) * 180];
  const [zero, ground] = at([0, 0]);
  const axes = [line([60, ground], [300, ground], 'axis'), line([zero, 15], [zero, 215], 'axis')];
  return plot([320, 225], 'The word vectors as arrows', [...axes, ...arrows.flatMap(([point, name, colour], index) => {
    const [x, y] = at(point);
    const isWord = index < names.length; // beside its arrow's head, a mixture above it: each on a side of its own
    const leftwards = name === 'by softmax' || (isWord && point[0] < (left + Math.max(...across)) / 2);
    /** @type {Point} */
    const beside = [x + (leftwards ? -1 : 1) * (isWord ? 8 : 2), y + (isWord ? 5 : -9)];
    return [line([zero, ground], [x, y], `arrow ${colour}`), dot([x, y], 4.5, colour), words(beside, name, leftwards ? 'end' : 'start', colour)];
  })]);
}
