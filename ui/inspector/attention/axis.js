/**
 * An axis of the map: the tokens of its rows or columns, as many as there is room for, beside what is shown of the map.
 */

import { make } from '../../kit/dom.js';

const AXIS = { rows: 62, columns: 58, apart: 12, letters: 8 }; // pixels, pixels between two names, and of a name

/** @param {'rows' | 'columns'} axis */
export function makeAxis(axis) {
  const node = make('canvas', { class: `at-axis at-axis-${axis}`, 'aria-hidden': 'true' });
  const upright = axis === 'columns';

  /**
   * @param {{count: number, size: number, offset: number, length: number, marked: number, colour: string,
   *   bright: string, name: (index: number) => string}} about how many cells of which size, scrolled by how much, on
   *   how long an axis
   */
  function draw({ count, size, offset, length, marked, colour, bright, name }) {
    const context = node.getContext('2d');
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = upright ? [length, AXIS.columns] : [AXIS.rows, length];
    const [across, down] = [Math.round(wide * ratio), Math.round(high * ratio)];
    if (node.width !== across || node.height !== down) {
      Object.assign(node, { width: across, height: down });
      Object.assign(node.style, { width: `${wide}px`, height: `${high}px` });
      // which a canvas forgets when its size changes; to set a font lays the page out, so only then
      Object.assign(context, { font: '10.5px sans-serif', textAlign: 'right', textBaseline: 'middle' });
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, high);
    const every = Math.ceil(AXIS.apart / size);
    const first = Math.max(0, Math.floor(offset / size));
    const end = Math.min(count, Math.ceil((offset + length) / size));
    for (let index = first; index < end; index += 1) {
      const near = marked >= 0 && index !== marked && Math.abs(index - marked) < every;
      if (index !== marked && (index % every || near)) continue;
      const middle = (index + 0.5) * size - offset;
      if (middle < 4 || middle > length - 4) continue;
      context.fillStyle = index === marked ? bright : colour;
      if (upright) context.setTransform(0, -ratio, ratio, 0, middle * ratio, 4 * ratio);
      else context.setTransform(ratio, 0, 0, ratio, (AXIS.rows - 5) * ratio, middle * ratio);
      context.fillText(short(name(index), AXIS.letters), 0, 0);
    }
  }

  return { node, draw };
}

/** @param {string} name @param {number} most letters */
export function short(name, most) {
  const letters = [...name];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : name;
}
