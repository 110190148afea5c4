/**
 * A matrix too large for a table, as a picture: a cell a number, orange below zero and blue above, read under the pointer
 * or with the arrow keys.
 *
 * @param {{name: string, describe: (row: number, column: number, value: number) => (string | Element)[], across: string, down: string}} inputs
 *   `describe` puts a cell into words; `across` and `down` name the axes
 */

import { make } from '../../kit/js/dom.js';
import { addCellCursor } from '../../kit/js/keys.js';
import { whenThemed } from '../../kit/js/theme.js';

export function matrixPicture({ name, describe, across, down }) {
  const canvas = make('canvas', { class: 'at-picture', tabindex: 0, role: 'img', 'aria-label': name });
  const readout = make('p', { class: 'at-quiet at-md at-picture-readout', role: 'status' });
  const under = make('span', { class: 'at-picture-across', text: across });
  const beside = make('span', { class: 'at-picture-down', text: down });
  const node = make('figure', { class: 'at-picture-frame' }, make('figcaption', { class: 'at-md at-strong', text: name }),
    make('div', { class: 'at-picture-axes' }, beside, canvas,
      under), readout);
  let values = new Int8Array(0);
  let shape = [0, 0];
  let here = [0, 0];

  /**
   * @param {string | Int8Array<ArrayBuffer>} packed signed bytes, row after row, 127 for 1 @param {number} rows @param {number} columns
   * @param {string[]} rowNames beside the rows, instead of the axis' name @param {string[]} columnNames under the columns
   */
  function update(packed, rows, columns, rowNames = [], columnNames = []) {
    values = typeof packed === 'string' ? Int8Array.from(atob(packed), (character) => character.charCodeAt(0)) : packed;
    nameEach(beside, 'at-picture-rows', rowNames);
    nameEach(under, 'at-picture-columns', columnNames);
    shape = [rows, columns];
    Object.assign(canvas, { width: columns, height: rows });
    here = inside(here);
    paint();
    describePoint();
  }

  function paint() {
    if (!values.length || !node.isConnected) return;
    const style = getComputedStyle(node);
    const colours = Array.from({ length: 11 }, (_, index) => hexColour(style.getPropertyValue(`--at-p${index}`)));
    const context = canvas.getContext('2d');
    const image = context.createImageData(shape[1], shape[0]);
    values.forEach((value, index) => {
      const colour = colours[Math.round(5 + 5 * (value / 127))];
      image.data.set([...colour, 255], 4 * index);
    });
    context.putImageData(image, 0, 0);
  }

  function describePoint() {
    const [row, column] = here;
    readout.replaceChildren(...describe(row, column, values[row * shape[1] + column] / 127));
  }

  const inside = (/** @type {number[]} */ cell) => cell.map((index, axis) => Math.min(shape[axis] - 1, Math.max(0, index)));
  const read = (/** @type {number[] | null} */ cell) => {
    if (cell) here = cell; // else what was read stays
    describePoint();
  };
  addCellCursor(canvas, {
    cellAt: ({ offsetX, offsetY }) =>
      inside([(offsetY / canvas.clientHeight) * shape[0], (offsetX / canvas.clientWidth) * shape[1]].map(Math.floor)),
    current: () => here,
    beside: ([row, column], x, y) => inside([row + y, column + x]),
    point: read, pick: read, // a finger that taps doesn't move
  });
  whenThemed(paint);
  return { node, update };
}

/** Names, each beside what it names, in place of an axis' name. @param {HTMLElement} node @param {string} style @param {string[]} names */
function nameEach(node, style, names) {
  if (!names.length) return;
  node.className = style;
  node.replaceChildren(...names.map((text) => make('span', { text, dir: 'auto' })));
}

/** @param {string} text such as #f5a45d @returns {[number, number, number]} */
const hexColour = (text) => {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(text.trim().slice(at, at + 2), 16));
  return [red, green, blue];
};
