/**
 * An axis of the map: the tokens of its visible rows or columns, as many as fit.
 */

import { fitCanvas, make } from '../../kit/js/dom.js';
import { fitting } from '../../kit/js/text.js';

const COLUMNS = 58; // pixels that the columns' axis is high
const APART = 12; // pixels between two names
const ROOM = { rows: 8, columns: 4 }; // pixels between the names and the edges of an axis
const NAME = { high: 14, font: '10.5px sans-serif' }; // the picture of a name
const MAX_PICTURES = 2000;

/** @param {'rows' | 'columns'} axis */
export function makeAxis(axis) {
  const node = make('canvas', { class: `at-axis at-axis-${axis}`, 'aria-hidden': 'true' });
  const upright = axis === 'columns';

  /**
   * @param {{count: number, size: number, offset: number, length: number, breadth?: number, marked: number, colour: string,
   *   bright: string, name: (index: number) => string}} about the number and size of the cells, how far they are
   *   scrolled, and the length and breadth of the axis
   */
  function draw({ count, size, offset, length, breadth = COLUMNS, marked, colour, bright, name }) {
    const context = node.getContext('2d');
    const ratio = upright ? fitCanvas(node, length, breadth) : fitCanvas(node, breadth, length);
    const room = breadth - ROOM[axis];
    context.clearRect(0, 0, node.width, node.height);
    const every = Math.ceil(APART / size);
    const first = Math.max(0, Math.floor(offset / size));
    const end = Math.min(count, Math.ceil((offset + length) / size));
    for (let index = first; index < end; index += 1) {
      const near = marked >= 0 && index !== marked && Math.abs(index - marked) < every;
      if (index !== marked && (index % every || near)) continue;
      const middle = (index + 0.5) * size - offset;
      if (middle < 4 || middle > length - 4) continue;
      const picture = pictureOf(name(index), index === marked ? bright : colour, room, ratio);
      const start = middle - NAME.high / 2;
      const [x, y] = upright ? [start, ROOM.columns] : [ROOM.rows - 5, start];
      context.drawImage(picture, Math.round(x * ratio), Math.round(y * ratio));
    }
  }

  /** @type {Map<string, HTMLCanvasElement>} the names drawn so far: letters take a hundred times as long to draw as pixels */
  const pictures = new Map();

  /** @param {string} text @param {string} colour @param {number} room pixels @param {number} ratio pixels of the screen for one of the page */
  function pictureOf(text, colour, room, ratio) {
    const key = `${text} ${colour} ${room} ${ratio}`;
    if (pictures.has(key)) return pictures.get(key);
    const size = upright ? [NAME.high, room] : [room, NAME.high];
    const picture = make('canvas', { width: Math.ceil(size[0] * ratio), height: Math.ceil(size[1] * ratio) });
    const context = picture.getContext('2d');
    Object.assign(context, { font: NAME.font, textAlign: 'right', textBaseline: 'middle', fillStyle: colour });
    if (upright) context.setTransform(0, -ratio, ratio, 0, (NAME.high / 2) * ratio, 0);
    else context.setTransform(ratio, 0, 0, ratio, room * ratio, (NAME.high / 2) * ratio);
    context.fillText(fitting(text, (part) => context.measureText(part).width <= room), 0, 0);
    if (pictures.size >= MAX_PICTURES) pictures.clear();
    pictures.set(key, picture);
    return picture;
  }

  return { node, draw };
}
