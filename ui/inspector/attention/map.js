/**
 * The attention map: a row for every pass, a column for every token it could attend to.
 *
 * `weightsOf` reads a pass, `rowName` and `keyName` name its rows and columns, and `onPick` is called when a row is picked. A
 * decoder's row is named after the token that its pass chose, and has as many keys as there were at that time.
 */

import { fitCanvas, make, setText } from '../../kit/js/dom.js';
import { addCellCursor } from '../../kit/js/keys.js';
import { makeAxis } from './axis.js';

const CELL = { narrowest: 3, widest: 36 };
const STOPS = 5;
export const WINDOW = 64; // rows in sight: thinner ones could not be told apart

/**
 * @param {{weightsOf: (query: number) => Float32Array | null, rowName: (query: number) => string,
 *   keyName: (key: number) => string, describe: (query: number, key: number) => string,
 *   onPick: (query: number) => void, keysOf: (query: number) => number, named?: string, rowIs?: string}} wiring
 */
export function makeMap({ weightsOf, rowName, keyName, describe, onPick, keysOf, named = 'Attention map', rowIs = 'generated' }) {
  const canvas = make('canvas', {
    class: 'at-canvas', tabindex: 0, role: 'img',
    'aria-label': `${named}; use the arrow keys to move, Enter to select a row`,
  });
  const scroller = make('div', { class: 'at-map-scroll at-scroll' }, canvas);
  const rowAxis = makeAxis('rows');
  const columnAxis = makeAxis('columns');
  const corner = make('p', { class: 'at-stack at-between at-quiet at-map-corner' },
    make('span', { text: `↑ ${rowIs}` }), make('span', { text: 'attends to →' }));
  const readout = make('p', { class: 'at-sm at-quiet at-readout', 'aria-live': 'polite' });
  const most = make('span');
  const scale = make('span', { class: 'at-row at-gap-sm at-fixed at-sm at-quiet at-legend' }, '0', make('i', { class: 'at-ramp at-ramp-map' }), most);
  const node = make('div', { class: 'at-map' },
    make('div', { class: 'at-map-grid' }, rowAxis.node, scroller, corner, columnAxis.node),
    make('div', { class: 'at-row at-between at-top at-map-foot' }, readout, scale));
  const cells = document.createElement('canvas'); // one pixel for each cell
  let range = { from: 0, end: 0, keys: 0, marked: -1, column: -1, title: '', full: 1 };
  let size = { cell: 0, row: 0 };
  let scrolled = { top: 0, left: 0 };
  // These were measured last: asking for them while drawing would lay the page out again.
  let width = 0;
  let height = 0; // of the visible part; the rest is reached by scrolling
  let namesWidth = 0; // of the axis of the rows
  /** @type {{query: number, key: number} | null} */
  let cursor = null;
  /** @type {ReturnType<typeof readColours> | null} kept, since asking for them lays the page out */
  let colours = null;
  let unrevealed = false; // the marked row may be out of sight

  const keys = () => range.keys;
  const rows = () => range.end - range.from;

  /**
   * Draw the passes of the queries from … end - 1. `reveal` completes the drawing.
   * @param {Omit<typeof range, 'column'> & {column?: number}} next `marked` is the query of the selected step, `column` the
   *   selected key; the title names the layers and heads; `full` is the weight of the strongest colour
   */
  function draw(next) {
    unrevealed ||= next.marked !== range.marked || next.end !== range.end;
    range = { column: -1, ...next };
    if (rows() <= 0) return;
    fit();
    paintCells();
    put(cursor);
  }

  function fit() {
    if (!width) measure();
    size = {
      cell: Math.min(CELL.widest, Math.max(CELL.narrowest, width / keys())),
      row: Math.min(CELL.widest, Math.max(CELL.narrowest, rowHeight(height - 4, rows()))),
    };
    fitCanvas(canvas, Math.floor(size.cell * keys()), Math.ceil(size.row * rows()));
  }

  function measure() {
    width = scroller.clientWidth;
    height = parseFloat(getComputedStyle(scroller).maxHeight);
    namesWidth = corner.clientWidth;
    scroller.style.setProperty('--drawn', `${height}px`); // paper has no time to draw it again
  }

  function paintCells() {
    colours ??= readColours(node);
    const passes = Array.from({ length: rows() }, (_, row) => weightsOf(range.from + row));
    most.textContent = `${range.full < 1 ? '≥\u00a0' : ''}${(100 * range.full).toFixed(0)}\u00a0%`;
    cells.width = keys();
    cells.height = rows();
    const image = new ImageData(keys(), rows());
    const pixels = new Uint32Array(image.data.buffer);
    passes.forEach((weights, row) => weights?.forEach((weight, key) => {
      pixels[row * keys() + key] = colours.ramp[Math.round(255 * Math.sqrt(Math.min(1, weight / range.full)))];
    }));
    cells.getContext('2d').putImageData(image, 0, 0);
  }

  function paint() {
    const context = canvas.getContext('2d');
    context.imageSmoothingEnabled = false;
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(cells, 0, 0, canvas.width, canvas.height);
    const across = canvas.width / keys();
    const down = canvas.height / rows();
    const frame = (x, y, wide, high, colour) => {
      context.lineWidth = Math.max(2, Math.round(1.5 * devicePixelRatio));
      context.strokeStyle = colour;
      const top = Math.max(1, y - 1); // around a thin row rather than over it
      context.strokeRect(x + 1, top, wide - 2, Math.min(canvas.height - 1, y + high + 1) - top);
    };
    if (range.marked >= range.from && range.marked < range.end) {
      frame(0, (range.marked - range.from) * down, keysOf(range.marked) * across, down, colours.row);
    }
    if (range.column >= 0) frame(range.column * across, 0, across, canvas.height, colours.row);
    if (cursor) frame(cursor.key * across, (cursor.query - range.from) * down, across, down, colours.cell);
  }

  /** Draw the axes for the visible part of the map. */
  function label() {
    if (rows() <= 0 || !colours) return;
    const paints = { colour: colours.quiet, bright: colours.row };
    rowAxis.draw({
      count: rows(), size: size.row, offset: scrolled.top, length: Math.min(height, Math.ceil(size.row * rows())),
      breadth: namesWidth,
      marked: (cursor?.query ?? range.marked) - range.from, ...paints, name: (row) => rowName(range.from + row),
    });
    columnAxis.draw({
      count: keys(), size: size.cell, offset: scrolled.left, length: width,
      marked: cursor?.key ?? range.column, ...paints, name: keyName,
    });
  }

  /** Scroll to the marked row if it has changed, and draw the axes. This lays the page out. */
  function reveal() {
    const { marked } = range;
    if (unrevealed && marked >= range.from) {
      scroller.scrollTop = scrolledTo({
        row: marked - range.from, rows: rows(), size: size.row, top: scroller.scrollTop, height: scroller.clientHeight,
      });
      scroller.scrollLeft = (marked + 1) * size.cell - scroller.clientWidth;
    } else if (unrevealed && range.column >= 0) {
      scroller.scrollLeft = (range.column + 0.5) * size.cell - scroller.clientWidth / 2;
    }
    unrevealed = false;
    keepUp(); // when a map shrinks, the browser scrolls it without an event
  }

  function keepUp() {
    scrolled = { top: scroller.scrollTop, left: scroller.scrollLeft };
    label();
  }

  /** @param {{query: number, key: number} | null} cell */
  function point(cell) {
    put(cell);
    label();
  }

  /** @param {{query: number, key: number} | null} cell */
  function put(cell) {
    const weights = cell && cell.query >= range.from && cell.query < range.end ? weightsOf(cell.query) : null;
    cursor = weights && cell.key >= 0 && cell.key < keysOf(cell.query) ? cell : null;
    scale.hidden = Boolean(cursor); // there is room for one of them in the line
    setText(readout, cursor ? describe(cursor.query, cursor.key) : `${range.title}${rows() > WINDOW ? ' · scroll for the rest' : ''}`);
    if (rows() > 0) paint();
  }

  addCellCursor(canvas, {
    cellAt: ({ offsetX, offsetY }) => {
      const query = range.from + Math.floor(offsetY / size.row);
      return query >= range.from && query < range.end ? { query, key: Math.floor(offsetX / size.cell) } : null;
    },
    current: () => cursor ?? { query: Math.max(range.from, range.marked), key: Math.max(0, range.marked) },
    beside(cell, right, down) {
      const query = Math.min(range.end - 1, Math.max(range.from, cell.query + down));
      return { query, key: Math.min(keysOf(query) - 1, Math.max(0, cell.key + right)) };
    },
    point,
    pick: ({ query }) => onPick(query),
  });
  scroller.addEventListener('scroll', keepUp);

  new ResizeObserver(() => {
    measure();
    if (rows() <= 0) return;
    unrevealed = true;
    draw(range);
    reveal();
  }).observe(scroller);

  return { node, draw, reveal, forgetColours: () => { colours = null; } };
}

/** The theme's colours; the ramp is 256 of them between five stops, as pixels. @param {HTMLElement} node */
export function readColours(node) {
  const style = getComputedStyle(node);
  const stops = Array.from({ length: STOPS }, (_, i) => {
    const hex = style.getPropertyValue(`--at-map-${i}`).trim();
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  });
  const ramp = Uint32Array.from({ length: 256 }, (_, byte) => {
    const at = (byte / 255) * (STOPS - 1);
    const below = Math.min(STOPS - 2, Math.floor(at));
    const [r, g, b] = stops[below].map((low, i) => Math.round(low + (stops[below + 1][i] - low) * (at - below)));
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });
  const [row, cell, quiet] = ['accent', 'text', 'quiet'].map((name) => style.getPropertyValue(`--at-${name}`).trim());
  return { ramp, row, cell, quiet };
}

/** The height of a row when all rows, or a window of them, share a height. @param {number} height @param {number} rows */
export const rowHeight = (height, rows) => height / Math.min(WINDOW, rows);

/**
 * How far to scroll so that one row is visible: no further than necessary, so that the newest row is the last of a full window
 * and its neighbours stay where they are.
 * @param {{row: number, rows: number, size: number, top: number, height: number}} about the row, the number of rows, the height
 *   of each, how far they are scrolled now, and the height of the window
 */
export function scrolledTo({ row, rows, size, top, height }) {
  const furthest = Math.max(0, Math.ceil(rows * size) - height);
  const nearest = Math.min(row * size, Math.max(top, (row + 1) * size - height));
  return Math.min(furthest, Math.max(0, nearest));
}
