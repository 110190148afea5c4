/**
 * Positions: the sinusoids and their likeness as pictures, and each pair of a position on its circle.
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make, makeSvg } from '../../../kit/js/dom.js';
import { withFormulas } from '../../../kit/js/formula.js';
import { signed } from '../../../kit/js/text.js';
import { matrixPicture } from '../../drawings/picture.js';

/** The table of sinusoids. @param {SlotWiring} wiring @returns {SlotView} */
export function table({ label, controls }) {
  const picture = matrixPicture({
    name: label, across: 'column of the vector', down: 'position',
    describe: (row, column, value) => withFormulas(`position ${row}, column ${column}: ${signed(value.toFixed(2))}`
      + ` = $${column % 2 ? 'cos' : 'sin'}(${row} / 10000^(${column - (column % 2)}/${controls.value('width')}))$`),
  });
  return { node: picture.node, draw: ({ table: packed, length, width }) => picture.update(packed, length, width) };
}

/** How alike its rows are. @param {SlotWiring} wiring @returns {SlotView} */
export function likeness({ label }) {
  const picture = matrixPicture({
    name: label, across: 'position', down: 'position',
    describe: (row, column, value) => [`positions ${row} and ${column}: cosine ${signed(value.toFixed(2))}`],
  });
  return { node: picture.node, draw: ({ likeness: packed, length }) => picture.update(packed, length, length) };
}

/** Each pair before and after the shift. @returns {SlotView} */
export function turns() {
  const node = make('div', { class: 'at-rotations' });
  return { node, draw: (result) => node.replaceChildren(...result.turns.map((turn, pair) => turnFigure(turn, pair, result))) };
}

function turnFigure({ frequency, before, turned, after, matrix }, pair, { position, shift }) {
  const at = ([sine, cosine]) => [60 + 46 * cosine, 60 - 46 * sine];
  const hand = (point, kind) => {
    const [x, y] = at(point);
    return [
      makeSvg('line', { x1: 60, y1: 60, x2: x, y2: y, class: kind }),
      makeSvg('circle', { cx: x, cy: y, r: 4, class: kind }),
    ];
  };
  const picture = makeSvg('svg', { viewBox: '0 0 120 120', class: 'at-rotation-circle', 'aria-hidden': 'true' },
    makeSvg('circle', { cx: 60, cy: 60, r: 46, class: 'at-rotation-rim' }),
    ...hand(before, 'at-rotation-before'), ...hand(turned, 'at-rotation-after'));
  const coordinates = ([sine, cosine]) => signed(`(${sine.toFixed(2)}, ${cosine.toFixed(2)})`);
  const rows = matrix.map((row) => `[${row.map((one) => signed(one.toFixed(2))).join(', ')}]`).join(', ');
  const same = turned.every((one, axis) => Math.abs(one - after[axis]) < 0.0051);
  return make('figure', { class: 'at-rotation' },
    make('figcaption', { text: `columns ${2 * pair} and ${2 * pair + 1}, ω = ${frequency}` }), picture,
    make('p', { text: `position ${position}: ${coordinates(before)}` }),
    make('p', { text: `[${rows}] turns it to ${coordinates(turned)}` }),
    make('p', { text: `position ${position + shift} in the table: ${coordinates(after)}, ${same ? '' : 'not '}the same` }));
}
