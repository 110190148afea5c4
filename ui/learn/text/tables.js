/**
 * Slots that show what was computed: matrices, tables of texts, bars, tokens.
 */

/** @import { Slot, SlotView, SlotWiring } from './slot_values.js' */

import { headCell, make, makeTable } from '../../kit/js/dom.js';
import { formula } from '../../kit/js/formula.js';
import { tokenChip } from '../../kit/js/text.js';
import { matrixTable } from '../drawings/matrix.js';
import { extentBar, PIECES, symbolChips, tokenName } from '../drawings/pieces.js';
import { labelText, namesOf, redrawn, valueOf } from './slot_values.js';

/** A matrix, or one for each head; with `edit`, its numbers can be changed. @param {SlotWiring} wiring @returns {SlotView} */
export function table({ name, slot, label, controls }, edit = null) {
  const node = make('div', { class: 'at-tables' });
  /** @type {ReturnType<typeof matrixTable>[]} */
  let tables = [];

  function draw(result) {
    const value = edit?.value() ?? valueOf(result, name);
    node.hidden = !value;
    if (!value) return;
    const { rows, rowNames, columnNames, caption, digits = slot.digits } = Array.isArray(value) ? { rows: value } : value;
    const matrices = Array.isArray(rows[0][0]) ? rows : [rows];
    const names = (head) => ({
      caption: (caption ?? labelText(label, controls.value)) + (matrices.length > 1 ? `, head ${head + 1}` : ''), digits,
      rowNames: rowNames ?? namesOf(slot.rows, matrices[0].length, controls.value),
      columnNames: columnNames ?? namesOf(slot.columns, matrices[0][0].length, controls.value),
    });
    if (tables.length === matrices.length) tables.forEach((one, head) => one.update(matrices[head], names(head)));
    else {
      tables = matrices.map((matrix, head) => matrixTable({
        ...names(head), rows: matrix, scale: slot.scale, editable: Boolean(edit), onEdit: edit?.change,
        onPoint: (cell) => cell && controls.point(name, { ...cell, head }, names(head).caption),
      }));
      node.replaceChildren(...tables.map((one) => one.node));
    }
  }

  return {
    node, draw,
    light: (test) => tables.forEach((one, head) => one.light(test && ((row, column) => test({ row, column, head })))),
    forget: () => tables.forEach((one) => one.forget()),
  };
}

/** A matrix whose numbers can be changed. @param {SlotWiring} wiring @returns {SlotView} */
export function numbers(wiring) {
  const { name, slot: { edits }, controls } = wiring;
  const key = edits || name;
  const current = () => (edits ? controls.value(name) : undefined) ?? (controls.latest(key) && { rows: controls.latest(key) });
  const view = table(wiring, {
    value: current,
    change: (row, column, value) => {
      const changed = current().at?.[row] ?? row; // the row of the input that stands there
      controls.change({ [key]: controls.latest(key).map((line, index) => (index === changed ? line.with(column, value) : line)) });
    },
  });
  return { ...view, put: view.draw };
}

/** @param {any} cell a text or number; {bar: share}, {token}, {formula} or {pieces: texts} @returns {Node | string} */
function cellContent(cell) {
  if (cell?.pieces) return symbolChips(cell.pieces);
  if (cell?.token) return tokenChip(cell.token);
  if (cell?.formula) return formula(cell.formula, true);
  if (typeof cell?.bar !== 'number') return String(cell ?? '');
  return make('span', { class: 'at-measured at-bar-cell' }, extentBar(cell.bar), cell.text ?? '');
}

/** A table of texts. @param {SlotWiring} wiring @returns {SlotView} */
export function records({ name, slot, label, controls }) {
  const head = slot.columns.map((text) => headCell('col', text));
  const node = make('div', { class: 'at-scroll at-small-scroll', tabindex: 0, role: 'region', 'aria-label': label, hidden: true });

  function draw() {
    const rows = controls.value(name);
    if (rows === undefined) return; // what was measured before stays
    node.hidden = !rows?.length;
    if (node.hidden) return;
    const body = rows.map((row) => make('tr', { class: row.later ? 'at-later' : null },
      ...(row.cells ?? row).map((cell) => make('td', {}, cellContent(cell)))));
    node.replaceChildren(makeTable({ class: 'at-small' }, head, body));
    const last = rows.findLast((row) => !row.later);
    if (last === rows.at(-1)) return;
    requestAnimationFrame(() => { // to the newest of those that grow
      const line = body[Math.max(0, rows.indexOf(last))];
      node.scrollTop = line.offsetTop + line.offsetHeight - node.clientHeight + 40;
    });
  }

  return { node, draw };
}

/** Bars beside their names and numbers. @param {SlotWiring} wiring @returns {SlotView} */
export const bars = ({ name, controls }) => redrawn(make('ol', { class: 'at-near' }), () =>
  (controls.value(name) ?? []).map(([called, share, text]) => make('li', { class: 'at-measured' },
    called.token ? tokenName(called.token) : make('span', { text: called }), extentBar(share),
    make('span', { class: 'at-number', text }))));

/** Tokens in a row. @param {SlotWiring} wiring @returns {SlotView} */
export const tokens = ({ name, controls }) => redrawn(make('div', { class: PIECES }), () =>
  (controls.value(name) ?? []).map((token) => tokenChip(token, true)));

/** The line at the bottom of a chapter, always in sight, which tells of the number that is pointed at. @param {SlotWiring} wiring */
export function explanation({ label }) {
  const node = make('p', { class: 'at-explanation at-panel at-md', role: 'status', text: label });
  return { node, tell: (/** @type {(string | Element)[]} */ parts) => node.replaceChildren(...parts) };
}
