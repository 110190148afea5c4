/**
 * Positions: the sinusoids and their likeness as pictures, and each pair of a position on its circle.
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make, makeSvg } from '../../../kit/js/dom.js';
import { withFormulas } from '../../../kit/js/formula.js';
import { signed } from '../../../kit/js/text.js';
import { matrixPicture } from '../../drawings/picture.js';
import { dot, line } from '../../drawings/plot.js';
import { redrawn } from '../../text/slot_values.js';

/** The table of sinusoids. @param {SlotWiring} wiring @returns {SlotView} */
export function table({ label, controls }) {
  const picture = matrixPicture({
    name: label, across: 'column of the vector', down: 'position',
    describe: (row, column, value) => withFormulas(`position ${row}, column ${column}: ${signed(value.toFixed(2))}`
      + ` = $${column % 2 ? 'cos' : 'sin'}(${row} / 10000^(${column - (column % 2)}/${controls.value('width')}))$`),
  });
  return { node: picture.node, draw: ({ table: packed, length, width }) => picture.update(packed, length, width) };
}

/** How alike positions are. @param {string} cosines @param {string} count the names of both in the result @returns {(wiring: SlotWiring) => SlotView} */
const alike = (cosines, count) => ({ label }) => {
  const picture = matrixPicture({
    name: label, across: 'position', down: 'position',
    describe: (row, column, value) => [`positions ${row} and ${column}: cosine ${signed(value.toFixed(2))}`],
  });
  return { node: picture.node, draw: (result) => picture.update(result[cosines], result[count], result[count]) };
};

/** The rows of the table. */
export const likeness = alike('likeness', 'length');

/** Those that a model has learned. */
export const learned = alike('learned', 'learned_count');

/** Each pair before and after the shift. @returns {SlotView} */
export const turns = () => redrawn(make('div', { class: 'at-three' }),
  (result) => result.turns.map((turn, pair) => turnFigure(turn, pair, result)));

function turnFigure({ frequency, before, turned, after, matrix }, pair, { position, shift }) {
  /** @returns {[number, number]} */
  const at = ([sine, cosine]) => [60 + 46 * cosine, 60 - 46 * sine];
  const hand = (point, colour) => [line([60, 60], at(point), `arrow ${colour}`), dot(at(point), 5, colour)];
  const picture = makeSvg('svg', { viewBox: '0 0 120 120', class: 'at-plot', 'aria-hidden': 'true' },
    dot([60, 60], 46, 'at-rotation-rim'), ...hand(before, 'other'), ...hand(turned, 'accent'));
  const coordinates = ([sine, cosine]) => signed(`(${sine.toFixed(2)}, ${cosine.toFixed(2)})`);
  const rows = matrix.map((row) => `[${row.map((one) => signed(one.toFixed(2))).join(', ')}]`).join(', ');
  const same = turned.every((one, axis) => Math.abs(one - after[axis]) < 0.0051);
  return make('figure', { class: 'at-rotation' },
    make('figcaption', { class: 'at-strong', text: `columns ${2 * pair} and ${2 * pair + 1}, ω = ${frequency}` }), picture,
    make('p', { text: `position ${position}: ${coordinates(before)}` }),
    make('p', { text: `[${rows}] turns it to ${coordinates(turned)}` }),
    make('p', { text: `position ${position + shift} in the table: ${coordinates(after)}, ${same ? '' : 'not '}the same` }));
}
