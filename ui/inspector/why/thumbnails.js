/**
 * The attention of all heads as thumbnails on one canvas. Only what is in sight is painted.
 */

/** @import { HeadsAnswer } from './why_contract' */

import { fitCanvas, make } from '../../kit/js/dom.js';
import { addCellCursor } from '../../kit/js/keys.js';
import { fitting } from '../../kit/js/text.js';
import { download } from '../../kit/js/transfer.js';
import { readColours } from '../attention/map.js';

const MAX_ACROSS = 12;
const NARROW = { width: 480, across: 3 }; // on a phone
const GAP = 4;
const NAME = { high: 16, font: '10.5px sans-serif' };

/** The cells of every head, each from 0 to 15; null above the diagonal. @param {HeadsAnswer} answer @param {boolean} isTriangular */
export function unpackCells({ cells, rows, columns, layers, heads }, isTriangular) {
  const bytes = Uint8Array.from(atob(cells), (character) => character.charCodeAt(0));
  let at = 0;
  return Array.from({ length: layers * heads }, () => {
    const map = new Int8Array(rows * columns).fill(-1);
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < (isTriangular ? row + 1 : columns); column += 1) {
        map[row * columns + column] = at % 2 ? bytes[at >> 1] & 15 : bytes[at >> 1] >> 4;
        at += 1;
      }
    }
    return map;
  });
}

/**
 * @param {{point: (head: number | null) => void, pick: (head: number) => void}} wiring heads by their number, layer after layer
 */
export function makeThumbnails({ point, pick }) {
  const canvas = make('canvas', { class: 'at-thumbs', tabindex: 0, role: 'img' });
  const room = make('div', {}, canvas);
  const node = make('div', { class: 'at-panel at-scroll at-thumbs-scroll' }, room);
  const bitmap = document.createElement('canvas'); // of one head
  /**
   * @type {{maps: Int8Array[], rows: number, columns: number, order: number[], across: number,
   *   namesOf: (head: number) => [string, string]}} under a head: a name, which is cut off where both don't fit, and a number
   */
  let about = { maps: [], rows: 0, columns: 0, order: [], namesOf: (head) => [String(head), ''], across: 0 };
  let locked = -1;
  let cursor = -1; // a place in the order
  let width = 0;
  /** @type {ReturnType<typeof readColours> | null} */
  let colours = null;

  const across = () => Math.max(1, width < NARROW.width ? Math.min(NARROW.across, about.across) : Math.min(MAX_ACROSS, about.across));
  const side = () => Math.min(96, Math.floor(width / across()) - GAP);
  const high = () => Math.max(12, Math.round(side() * Math.min(1.5, about.rows / about.columns))) + NAME.high + GAP;
  const wide = () => side() + GAP;
  const total = () => Math.ceil(about.order.length / across()) * high() + GAP;

  /** @param {typeof about} next `order`: the heads to show; `across`: how many of them belong in a row */
  function draw(next) {
    about = next;
    cursor = Math.min(cursor, about.order.length - 1);
    canvas.setAttribute('aria-label', `${about.order.length} heads; use the arrow keys to move, Enter to open one`);
    fit();
  }

  function fit() {
    width = node.clientWidth;
    if (!width || !about.maps.length) return;
    room.style.height = `${total()}px`;
    fitCanvas(canvas, width, Math.min(total(), node.clientHeight || total()));
    paint();
  }

  /** The left and upper edge of a place in the order, on the whole sheet. @param {number} place @returns {[number, number]} */
  const cornerOf = (place) => [GAP + (place % across()) * wide(), GAP + Math.floor(place / across()) * high()];

  function paint() {
    colours ??= readColours(node);
    const context = canvas.getContext('2d');
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, -node.scrollTop * ratio);
    context.clearRect(0, node.scrollTop, width, canvas.height / ratio);
    const first = Math.max(0, Math.floor((node.scrollTop - GAP) / high())) * across();
    const end = Math.min(about.order.length, Math.ceil((node.scrollTop + canvas.height / ratio) / high()) * across());
    for (let place = first; place < end; place += 1) paintHead(context, place);
  }

  /** @param {CanvasRenderingContext2D} context @param {number} place */
  function paintHead(context, place) {
    const head = about.order[place];
    const [x, y] = cornerOf(place);
    const height = high() - NAME.high - GAP;
    paintMap(head);
    context.imageSmoothingEnabled = false;
    context.drawImage(bitmap, x, y, side(), height);
    context.font = NAME.font;
    context.fillStyle = head === locked ? colours.row : colours.quiet;
    const [name, number] = about.namesOf(head);
    const shortened = fitting(name, (part) => context.measureText(`${part} ${number}`).width <= side());
    context.fillText(`${shortened} ${number}`, x, y + height + 12);
    if (head !== locked && place !== cursor) return;
    context.lineWidth = 2;
    context.strokeStyle = head === locked ? colours.row : colours.cell;
    context.strokeRect(x - 1, y - 1, side() + 2, height + 2);
  }

  /** @param {number} head */
  function paintMap(head) {
    const { maps, rows, columns } = about;
    Object.assign(bitmap, { width: columns, height: rows });
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    maps[head].forEach((value, i) => {
      if (value >= 0) pixels[i] = colours.ramp[value * 17];
    });
    bitmap.getContext('2d').putImageData(image, 0, 0);
  }

  /** Paint a head on another canvas. @param {HTMLCanvasElement} target @param {number} head */
  function paintOn(target, head) {
    colours ??= readColours(node);
    paintMap(head);
    const context = target.getContext('2d');
    context.imageSmoothingEnabled = false;
    context.clearRect(0, 0, target.width, target.height);
    context.drawImage(bitmap, 0, 0, target.width, target.height);
  }

  /** @param {{place: number} | null} cell */
  function pointAt(cell) {
    if (!about.maps.length) return; // the answer is still to come
    cursor = cell?.place ?? -1;
    paint();
    point(cursor < 0 ? null : about.order[cursor]);
  }

  addCellCursor(canvas, {
    cellAt: ({ offsetX, offsetY }) => {
      const [column, row] = [Math.floor((offsetX - GAP) / wide()), Math.floor((offsetY + node.scrollTop - GAP) / high())];
      const place = row * across() + column;
      return column >= 0 && column < across() && row >= 0 && place < about.order.length ? { place } : null;
    },
    current: () => ({ place: cursor >= 0 ? cursor : Math.max(0, about.order.indexOf(locked)) }),
    beside({ place }, right, down) {
      const next = Math.min(about.order.length - 1, Math.max(0, place + right + down * across()));
      const [, y] = cornerOf(next);
      if (y < node.scrollTop) node.scrollTop = y - GAP;
      else if (y + high() > node.scrollTop + node.clientHeight) node.scrollTop = y + high() - node.clientHeight;
      return { place: next };
    },
    point: pointAt,
    pick: ({ place }) => {
      if (about.order[place] !== undefined) pick(about.order[place]);
    },
  });
  node.addEventListener('scroll', () => about.maps.length && paint());
  new ResizeObserver(() => {
    if (node.clientWidth !== width) fit();
  }).observe(node);

  return {
    node, draw, paintOn,
    /** @param {number} head */
    lock(head) {
      locked = head;
      if (about.maps.length) paint();
    },
    forgetColours() {
      colours = null;
      if (about.maps.length) paint();
    },
    /** Save all heads in their order. @param {string[]} nameParts */
    save(nameParts) {
      const sheet = document.createElement('canvas');
      Object.assign(sheet, { width: 2 * width, height: 2 * total() });
      const context = sheet.getContext('2d');
      context.fillStyle = getComputedStyle(document.body).backgroundColor;
      context.fillRect(0, 0, sheet.width, sheet.height);
      context.scale(2, 2);
      about.order.forEach((_, place) => paintHead(context, place));
      sheet.toBlob((blob) => blob && download(nameParts, 'png', blob));
    },
  };
}
