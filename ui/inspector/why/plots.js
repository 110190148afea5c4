/**
 * The pictures of "Why?": curves over layers and grids of coloured cells, as SVG that can be saved.
 */

import { make, makeButton, makeSvg, makeTable, setText } from '../../kit/js/dom.js';
import { addCellCursor } from '../../kit/js/keys.js';
import { fitting, percent, signed, visible } from '../../kit/js/text.js';
import { download } from '../../kit/js/transfer.js';

const CURVES = { height: 190, left: 40, right: 12, top: 10, bottom: 26 };
const [TWO_COLUMNS, COLUMN_GAP] = [640, 24]; // pixels
const STYLES = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline'];

/**
 * Probabilities after each layer, a line for each token.
 * @param {{columns: string[], lines: {name: string, values: number[]}[], marked: number, title: string, width: number, onPick: (column: number) => void}} about
 */
export function makeCurves({ columns, lines, marked, title, width, onPick }) {
  const { height, left, right, top, bottom } = CURVES;
  const x = (column) => left + (columns.length > 1 ? (column / (columns.length - 1)) * (width - left - right) : 0);
  const y = (p) => top + (1 - p) * (height - top - bottom);
  const every = Math.ceil(columns.length / 16);
  const axis = [0, 0.5, 1].flatMap((p) => [
    makeSvg('line', { class: 'at-rule', x1: left, x2: width - right, y1: y(p), y2: y(p) }),
    makeSvg('text', { class: 'at-tick', x: left - 6, y: y(p), 'text-anchor': 'end', 'dominant-baseline': 'central' }, `${100 * p} %`)]);
  const names = columns.flatMap((name, i) => (i % every ? [] : [makeSvg('text', { class: 'at-tick', x: x(i), y: height - 8, 'text-anchor': 'middle' }, name)]));
  const cursor = makeSvg('line', { class: 'at-curve-here', x1: x(marked), x2: x(marked), y1: top, y2: height - bottom });
  const drawn = lines.map(({ values }, i) => makeSvg('polyline', {
    class: `at-curve at-curve-${i}`, points: values.map((p, column) => `${x(column).toFixed(1)},${y(p).toFixed(1)}`).join(' '),
  }));
  const svg = makeSvg('svg', { class: 'at-curves', viewBox: `0 0 ${width} ${height}`, role: 'img', tabindex: 0, 'aria-label': `${title}; use the arrow keys to move, Enter to choose a layer` },
    ...axis, ...names, cursor, ...drawn);
  const readout = make('p', { class: 'at-row at-wrap at-sm at-curve-names', 'aria-live': 'polite' });
  const within = (column) => Math.min(columns.length - 1, Math.max(0, column));
  let pointed = marked;
  /** @param {{column: number} | null} cell */
  const point = (cell) => {
    pointed = cell?.column ?? marked;
    cursor.setAttribute('x1', String(x(pointed)));
    cursor.setAttribute('x2', String(x(pointed)));
    readout.replaceChildren(...lines.map(({ name, values }, i) => make('span', { class: `at-row at-gap-xs at-key-${i}` }, make('i', {}),
      `${name} ${percent(values[pointed])}`)));
  };
  addCellCursor(svg, {
    cellAt: (event) => {
      const box = svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * width;
      return { column: within(Math.round(((at - left) / (width - left - right)) * (columns.length - 1))) };
    },
    current: () => ({ column: pointed }),
    beside: ({ column }, along) => ({ column: within(column + along) }),
    point,
    pick: ({ column }) => onPick(column),
  });
  point(null);
  return make('div', { class: 'at-drawn' }, svg, readout);
}

/**
 * A grid of coloured cells, orange below zero and blue above, which can be saved.
 * @param {{rows: string[], columns: string[], values: number[][], title: string, describe: (row: number, column: number) => string,
 *   onPick?: (row: number, column: number) => void, across?: string, room: number, file: string[]}} about `values` by row and
 *   column; `across` names the columns; `room`: the width that there is, in pixels; `file`: the parts of the saved file's name
 */
export function makeGrid({ rows, columns, values, title, describe, onPick = () => {}, across = '', room, file }) {
  const [left, top, high] = [56, across ? 20 : 4, rows.length > 16 ? 12 : 18];
  const isSlanted = columns.some((name) => name.length > 3);
  const wide = Math.min(40, Math.max(isSlanted ? 14 : 10, (Math.min(580, room) - left - 8) / columns.length));
  const bottom = isSlanted ? 64 : 18;
  const [width, height] = [left + wide * columns.length + (isSlanted ? 6 : 2), top + high * rows.length + bottom];
  const most = Math.max(1e-9, ...values.flat().map(Math.abs));
  const cells = values.flatMap((line, row) => line.map((value, column) => makeSvg('rect', {
    class: 'at-cell', x: left + wide * column, y: top + high * row, width: wide - 1, height: high - 1,
    'data-level': Math.round(5 + (5 * value) / most),
  })));
  const every = Math.ceil(rows.length / 24);
  const rowNames = rows.flatMap((name, row) => (row % every ? [] : [makeSvg('text', { class: 'at-tick', x: left - 6, y: top + high * (row + 0.5), 'text-anchor': 'end', 'dominant-baseline': 'central' }, name)]));
  const columnNames = columns.map((name, column) => {
    const [x, y] = [left + wide * (column + 0.5), top + high * rows.length + (isSlanted ? 8 : 14)];
    return makeSvg('text', { class: 'at-tick', x, y, 'text-anchor': isSlanted ? 'end' : 'middle', ...(isSlanted ? { transform: `rotate(-60 ${x} ${y})` } : {}) },
      fitting(name, (part) => [...part].length <= 9));
  });
  const heads = across ? [makeSvg('text', { class: 'at-tick', x: left, y: 12 }, across)] : [];
  const frame = makeSvg('rect', { class: 'at-cell-here', width: wide, height: high, visibility: 'hidden' });
  const svg = makeSvg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', tabindex: 0, 'aria-label': `${title}; use the arrow keys to move, Enter to choose` },
    ...heads, ...rowNames, ...columnNames, ...cells, frame);
  const readout = make('p', { class: 'at-sm at-quiet', 'aria-live': 'polite', text: title });
  let here = /** @type {{row: number, column: number} | null} */ (null);
  const point = (cell) => {
    here = cell;
    frame.setAttribute('visibility', cell ? 'visible' : 'hidden');
    if (cell) {
      frame.setAttribute('x', String(left + wide * cell.column - 0.5));
      frame.setAttribute('y', String(top + high * cell.row - 0.5));
    }
    setText(readout, cell ? describe(cell.row, cell.column) : title);
  };
  addCellCursor(svg, {
    cellAt: (event) => {
      const box = svg.getBoundingClientRect();
      const column = Math.floor((((event.clientX - box.left) / box.width) * width - left) / wide);
      const row = Math.floor((((event.clientY - box.top) / box.height) * height - top) / high);
      return row >= 0 && row < rows.length && column >= 0 && column < columns.length ? { row, column } : null;
    },
    current: () => here ?? { row: 0, column: 0 },
    beside: (cell, right, below) => ({
      row: Math.min(rows.length - 1, Math.max(0, cell.row + below)), column: Math.min(columns.length - 1, Math.max(0, cell.column + right)),
    }),
    point,
    pick: ({ row, column }) => onPick(row, column),
  });
  const node = make('div', { class: 'at-drawn' }, make('div', { class: 'at-scroll' }, svg), readout);
  node.append(pictureButton(() => node, file));
  return node;
}

/** A grid of all heads: `values` by layer and head. @param {Omit<Parameters<typeof makeGrid>[0], 'rows' | 'columns' | 'across'>} about */
export const makeHeadGrid = (about) => makeGrid({
  ...about, rows: about.values.map((_, layer) => `layer ${layer + 1}`), columns: about.values[0].map((_, head) => String(head + 1)), across: 'head',
});

/** The width of one of two columns, or of the only one, as why.css has them. @param {number} width */
export const roomBeside = (width) => (width >= TWO_COLUMNS ? width / 2 - COLUMN_GAP : width);

/**
 * A text with a number under each of its words or tokens: blue where it speaks for the choice, orange where against it.
 * @param {{text: string, value: number | null, title?: string}[]} items
 * @param {(value: number) => string} [written] what stands under it
 */
export function makeScoredText(items, written = nats) {
  const most = Math.max(1e-9, ...items.map(({ value }) => Math.abs(value ?? 0)));
  return make('div', { class: 'at-scored at-scroll', role: 'list' }, ...items.map(({ text, value, title }) =>
    make('span', { class: 'at-score', role: 'listitem', title },
      make('span', { class: 'at-chip at-shaded', dir: 'auto', 'data-level': value === null ? null : Math.round(5 + (5 * value) / most) }, ...visible(text, true)),
      make('span', { class: 'at-quiet', text: value === null ? '' : written(value) }))));
}

/** @param {number} value with its sign */
export function nats(value) {
  const text = value.toFixed(Math.abs(value) < 10 ? 2 : 1);
  if (Number(text) === 0) return '0.00';
  return `${value > 0 ? '+' : ''}${signed(text)}`;
}

/**
 * Bars on both sides of zero.
 * @param {{name: string, value: number, title?: string, isSum?: boolean}[]} items
 * @param {string} caption
 */
export function makeBars(items, caption) {
  const most = Math.max(1e-9, ...items.map(({ value, isSum }) => (isSum ? 0 : Math.abs(value))));
  const rows = items.map(({ name, value, title, isSum }) => {
    const bar = make('td', { class: `at-both${value < 0 ? ' at-below' : ''}` }, ...(isSum ? [] : [make('i', {})]));
    bar.style.setProperty('--share', String(Math.abs(value) / most));
    return make('tr', { class: isSum ? 'at-won' : '', title }, make('th', { scope: 'row', text: name }), bar,
      make('td', { class: 'at-number', text: nats(value) }));
  });
  return make('div', { class: 'at-scroll at-bars-scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    makeTable({ class: 'at-two-sided' }, [], rows, caption));
}

/** A button that saves a picture. @param {() => Element} picture which contains it @param {string[]} nameParts of the file */
export const pictureButton = (picture, nameParts) =>
  makeButton('Save SVG', () => download(nameParts, 'svg', svgText(picture().querySelector('svg'))), { class: 'at-plain at-sm' });

/** A picture as a file, with the colours that it has now. @param {SVGSVGElement} svg */
function svgText(svg) {
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const elements = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((one, i) => {
    const style = getComputedStyle(elements[i]);
    for (const name of STYLES) if (style.getPropertyValue(name)) one.setAttribute(name, style.getPropertyValue(name));
    one.removeAttribute('class');
    one.removeAttribute('tabindex');
  });
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.prepend(makeSvg('rect', { width: '100%', height: '100%', fill: getComputedStyle(document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}
