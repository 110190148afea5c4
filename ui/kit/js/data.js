/**
 * The numbers behind the plots, as tables to read, and to copy as CSV or Markdown. They are built only while they are open.
 */

import { make, makeButton, makeTable } from './dom.js';
import { signed } from './text.js';
import { copy, download } from './transfer.js';

/** @typedef {{title: string, head: string[], rows: (string | number)[][], file?: string[]}} Sheet `file`: what names it, if it can be saved */

/** @param {() => Sheet[]} sheets what to show now @param {string} [name] of the fold */
export function makeData(sheets, name = 'Data') {
  const body = make('div', { class: 'at-sheets' });
  const node = make('details', { class: 'at-ruled at-data' }, make('summary', { class: 'at-quiet', text: name }), body);
  const draw = () => {
    if (node.open) body.replaceChildren(...sheets().map(sheetTable));
  };
  node.addEventListener('toggle', draw);
  return { node, draw };
}

/** @param {Sheet} sheet */
function sheetTable(sheet) {
  const button = makeButton('Copy CSV', () => copy(csv(sheet), button));
  const markdownButton = makeButton('Copy Markdown', () => copy(markdown(sheet), markdownButton), { title: 'A table for a blog or a README' });
  const save = sheet.file ? [makeButton('Save CSV', () => download(sheet.file, 'csv', csv(sheet)))] : [];
  const textOf = (cell) => (typeof cell === 'number' ? signed(String(cell)) : cell);
  const cells = (row, tag) => row.map((cell) => make(tag, { text: textOf(cell), scope: tag === 'th' ? 'col' : null }));
  return make('div', { class: 'at-sheet' },
    make('div', { class: 'at-row at-sheet-head' }, make('h4', { text: sheet.title }), ...save, button, markdownButton),
    make('div', { class: 'at-panel at-scroll at-sheet-scroll', tabindex: 0, role: 'region', 'aria-label': sheet.title },
      makeTable({}, cells(sheet.head, 'th'), sheet.rows.map((row) => make('tr', {}, ...cells(row, 'td'))))));
}

/** Callers write tokens as JSON strings, so none can begin like a spreadsheet's formula. @param {Sheet} sheet */
export function csv(sheet) {
  const cell = (value) => (/[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return [sheet.head, ...sheet.rows].map((row) => row.map(cell).join(',')).join('\n') + '\n';
}

/** A table in Markdown, in which no text has another meaning; numbers have four digits and stand to the right. @param {Sheet} sheet */
export function markdown({ head, rows }) {
  const plain = (/** @type {string} */ text) => text.replaceAll(/[\\`*_[\]<>|&~$#]/g, '\\$&').replaceAll(/[\n\r]+/g, ' ');
  const written = (/** @type {string | number} */ cell) =>
    (typeof cell === 'string' ? plain(cell) : String(Number.isInteger(cell) ? cell : Number(cell.toPrecision(4))));
  const line = (/** @type {(string | number)[]} */ cells) => `| ${cells.map(written).join(' | ')} |`;
  const rule = head.map((_, column) => (rows.every((row) => typeof row[column] === 'number') ? '---:' : '---'));
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n') + '\n';
}
