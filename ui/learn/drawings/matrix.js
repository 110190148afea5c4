/**
 * A matrix as a table coloured by value: orange below zero, blue above, or violet for shares of a whole.
 *
 * Its cells are walked with the arrow keys, of which one at a time can be reached by Tab; those of an editable table are
 * fields. What was typed stays until it is a number and was answered: only then does `update` put another in its place.
 *
 * @typedef {(number | null)[][]} MatrixRows null is minus infinity, which JSON cannot tell
 * @typedef {{rowNames?: string[], columnNames?: string[], caption?: string, digits?: number}} MatrixNames
 */

import { headCell, make } from '../../kit/js/dom.js';
import { onPlane } from '../../kit/js/keys.js';
import { parseNumber } from '../../kit/js/number.js';
import { level, signed } from '../../kit/js/text.js';

/**
 * @param {{caption?: string, rows?: MatrixRows, rowNames?: string[], columnNames?: string[], editable?: boolean,
 *   onEdit?: (row: number, column: number, value: number) => void,
 *   onPoint?: (cell: {row: number, column: number} | null) => void,
 *   digits?: number, scale?: 'signed' | 'share' | 'plain'}} options without `rows` it waits for `update`, as a
 *   table of zeros; `onPoint` hears which cell has the focus or, where none in any table has it, is under the pointer
 */
export function matrixTable({ caption = '', rowNames = [''], columnNames = [''], editable = false, onEdit, onPoint, digits = 2,
  scale = 'signed', rows }) {
  const title = make('span', { class: 'at-matrix-name at-strong' });
  const size = make('span', { class: 'at-matrix-size' });
  const table = make('table', { role: 'grid', 'aria-readonly': String(!editable) });
  const wrong = make('p', { class: 'at-matrix-wrong at-sm at-optional', role: 'alert' });
  const node = make('figure', { class: 'at-matrix' },
    make('figcaption', { class: 'at-row' }, title, size), make('div', { class: 'at-matrix-scroll' }, table), wrong);
  let names = { caption, rowNames, columnNames, digits };
  let numbers = rows ?? rowNames.map(() => columnNames.map(() => 0));
  let waiting = !rows; // for the first numbers: until then the zeros mean nothing
  /** @type {(HTMLTableCellElement | HTMLInputElement)[][]} what takes the focus: the cells, or the fields in them */
  let cells = [];

  function build() {
    cells = numbers.map((row, i) => row.map((_, j) => {
      if (!editable) return make('td', { tabindex: -1 });
      const name = [names.rowNames[i], names.columnNames[j]].filter(Boolean).join(', ') || `row ${i + 1}, column ${j + 1}`;
      return make('input', {
        inputmode: 'decimal', autocomplete: 'off', spellcheck: 'false', tabindex: -1, 'aria-label': name,
      });
    }));
    const columns = names.columnNames.map((name) => headCell('col', name));
    const head = make('tr', {}, make('td'), ...columns);
    table.replaceChildren(
      make('thead', { hidden: !names.columnNames.some(Boolean) }, head),
      make('tbody', {}, ...cells.map((row, i) => make('tr', {}, headCell('row', names.rowNames[i]),
        ...row.map((cell) => (editable ? make('td', {}, cell) : cell))))));
    if (cells[0]?.[0]) cells[0][0].tabIndex = 0;
  }

  function paint() {
    const most = Math.max(...numbers.flat().map((number) => Math.abs(number ?? 0)));
    cells.forEach((row, i) => row.forEach((cell, j) => {
      const number = numbers[i][j];
      const shade = editable ? cell.parentElement : cell;
      delete shade.dataset.level;
      delete shade.dataset.attention;
      if (scale === 'signed' && number !== null) {
        shade.dataset.level = String(Math.round(5 + 5 * (most ? number / most : 0)));
      }
      if (scale === 'share') shade.dataset.attention = String(level(number ?? 0));
      shade.classList.toggle('at-matrix-none', number === null);
      if (!(cell instanceof HTMLInputElement)) cell.textContent = matrixNumber(number, names.digits);
      else if (!matrixTouched(cell)) matrixFill(cell, number, names.digits);
    }));
  }

  /** @param {MatrixRows} next of any shape @param {MatrixNames} changed */
  function update(next, changed = {}) {
    const before = JSON.stringify([names, numbers.length, numbers[0]?.length]);
    names = { ...names, ...changed };
    waiting &&= next === numbers;
    numbers = next;
    title.textContent = names.caption;
    size.textContent = `${numbers.length} × ${numbers[0]?.length ?? 0}`;
    table.setAttribute('aria-label', names.caption);
    if (!cells.length || before !== JSON.stringify([names, numbers.length, numbers[0]?.length])) build();
    paint();
  }

  /** @param {EventTarget | null} target @returns {{row: number, column: number} | null} */
  function positionOf(target) {
    const within = target instanceof Element ? target.closest('td') : null;
    const cell = editable ? within?.firstElementChild : within;
    const row = cells.findIndex((one) => one.some((other) => other === cell));
    return row < 0 ? null : { row, column: cells[row].findIndex((other) => other === cell) };
  }

  /** @param {{row: number, column: number} | null} position */
  function point(position) {
    if (!waiting) onPoint?.(position);
  }

  /** @param {((row: number, column: number) => boolean) | null} test which cells to mark; null marks none */
  function light(test) {
    cells.forEach((row, i) => row.forEach((cell, j) => {
      (editable ? cell.parentElement : cell).classList.toggle('at-lit', Boolean(test?.(i, j)));
    }));
  }

  /** Discard what was typed but not submitted. */
  function forget() {
    for (const field of cells.flat()) if (field instanceof HTMLInputElement) field.dataset.sent = field.value;
    wrong.textContent = '';
  }

  /** @param {HTMLInputElement} field */
  function take(field) {
    const position = positionOf(field);
    if (!position || !matrixTouched(field)) return;
    const value = parseNumber(field.value);
    const read = value !== null && Number.isFinite(value);
    field.setAttribute('aria-invalid', String(!read));
    wrong.textContent = read ? '' : matrixRefusal(field.value, value);
    if (!read) return;
    field.dataset.sent = field.value; // until the answer to it is drawn
    onEdit?.(position.row, position.column, value);
  }

  table.addEventListener('keydown', (event) => {
    const position = positionOf(event.target);
    const delta = onPlane(event.key);
    if (!position) return;
    const field = event.target instanceof HTMLInputElement ? event.target : null;
    if (field && event.key === 'Enter') take(field);
    if (field && event.key === 'Escape') {
      const { row, column } = position;
      matrixFill(field, numbers[row][column], names.digits);
      wrong.textContent = '';
      onEdit?.(row, column, numbers[row][column]); // in case the server refused the last value
    }
    const next = delta && cells[position.row + delta[1]]?.[position.column + delta[0]];
    if (!next || (field && !matrixLeaves(field, delta))) return;
    event.preventDefault();
    next.focus();
  });
  table.addEventListener('focusin', (event) => {
    const position = positionOf(event.target);
    if (!position) return;
    cells.flat().forEach((cell) => { cell.tabIndex = -1; });
    cells[position.row][position.column].tabIndex = 0;
    if (event.target instanceof HTMLInputElement) event.target.select();
    point(position);
  });
  // While a cell has the focus, the pointer changes nothing: scrolling would carry it over other tables.
  const pointed = (position) => {
    if (!document.activeElement?.closest('.at-matrix')) point(position);
  };
  table.addEventListener('focusout', () => point(null));
  table.addEventListener('pointerover', (event) => pointed(positionOf(event.target)));
  table.addEventListener('pointerleave', () => pointed(null));
  table.addEventListener('change', ({ target }) => target instanceof HTMLInputElement && take(target));

  update(numbers);
  return { node, update, light, forget };
}

/** @param {number | null} number @param {number} digits with the minus sign of the page, and never a minus zero */
export function matrixNumber(number, digits) {
  if (number === null) return '−∞';
  const text = number.toFixed(digits);
  return signed(Number(text) === 0 ? text.replace('-', '') : text);
}

/** A field shows its exact number, since that is what is computed with. @param {HTMLInputElement} field */
function matrixFill(field, number, digits) {
  const short = matrixNumber(number, digits);
  field.value = parseNumber(short) === number ? short : signed(String(number));
  field.dataset.sent = field.value;
  field.removeAttribute('aria-invalid');
}

/** @param {HTMLInputElement} field whether it holds what nobody has taken yet */
const matrixTouched = (field) => field.dataset.sent !== undefined && field.value !== field.dataset.sent;

/** Why the input is invalid; long input is shortened in the middle. @param {number | null} value as read */
function matrixRefusal(text, value) {
  const half = 20; // characters
  const quoted = text.length > 2 * half ? `${text.slice(0, half)}…${text.slice(-half)}` : text;
  const what = !text.trim() ? 'The cell is empty' : `“${quoted}” is ${value === null ? 'not a' : 'too large a'} number`;
  return `${what}: enter a number such as −0.25.`;
}

/** Whether an arrow key leaves a field: sideways only from its ends. @param {HTMLInputElement} field */
function matrixLeaves(field, [right, down]) {
  const { selectionStart: start, selectionEnd: end, value } = field;
  if (down || (start === 0 && end === value.length)) return true;
  return start === end && (right > 0 ? end === value.length : start === 0);
}
