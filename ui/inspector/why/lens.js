/**
 * Layers' guesses: what each layer would have said if it were the last one, for every token of the answer.
 *
 * A click on a cell shows the ten best guesses of its layer, and how the token's probability rises from layer to layer, with
 * up to three other tokens pinned beside it.
 */

/** @import { LensAnswer, LensCell, LensRow } from './why_contract' */
/** @import { Asking, Place } from './why.js' */

import { make, makeButton, makeTable } from '../../kit/js/dom.js';
import { onPlane, presses } from '../../kit/js/keys.js';
import { makeData } from '../../kit/js/data.js';
import { selectToken } from '../../kit/js/signals.js';
import { level, percent, tokenChip, visibleText } from '../../kit/js/text.js';
import { barCell, headCells, rivalOf } from '../step.js';
import { makeCurves, pictureButton } from './plots.js';

const MAX_PINNED = 3;

/** The name of a column, from 1 as on the rest of the page. @param {string} column */
const columnName = (column) => (column === '0' ? 'the embeddings' : column.includes(' ')
  ? `layer ${column.split(' ')[0]}, after ${column.split(' ')[1].replace('_', '-')}` : `layer ${column}`);

/** @param {string} column */
const shortName = (column) => column.replace(' attention', ' att.').replace(' cross_attention', ' cross');

/** @param {Asking} asking */
export function makeView({ answerTo, isRecorded = false }) {
  /** @type {LensAnswer | null} */
  let answer = null;
  /** @type {LensCell | null} */
  let cell = null;
  let place = /** @type {Place | null} */ (null);
  let answeredText = '';
  let column = -1; // the selected one
  /** @type {number[]} */
  let pinned = [];
  let pinnedAt = ''; // the token beside which they are pinned
  /** @type {HTMLElement[][]} */
  let cells = [];

  const middle = make('input', { type: 'checkbox' });
  const grid = make('div', { class: 'at-panel at-scroll at-lens-scroll', role: 'region', 'aria-label': 'Layers’ guesses' });
  const part = make('p', { class: 'at-sm at-quiet', hidden: true });
  const details = make('div', { class: 'at-lens-details' });
  const data = makeData(sheets);
  const node = make('div', { class: 'at-stack' },
    make('p', { class: 'at-md at-quiet', text: 'A column is a layer, 0 the embeddings before the first one. Each cell is the token that the model would have written had this layer been its last: the final norm and the output '
      + 'weights are applied early, and a cell is darker the likelier the token that was really written already was; “decided” is the first layer from which on it stays the best guess. This reads the layers with the '
      + 'last one’s eyes: it shows when a guess becomes readable, not when or where the model decided it.' }),
    make('label', { class: 'at-row at-gap-sm at-sm at-quiet', inert: isRecorded }, middle, 'also between the parts of a layer'),
    grid, part, details, data.node);

  middle.addEventListener('change', () => refresh());
  grid.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? /** @type {HTMLElement | null} */ (event.target.closest('[data-row]')) : null;
    if (target) pick(Number(target.dataset.row), Number(target.dataset.column));
  });
  grid.addEventListener('keydown', move);

  /** @param {Place} next */
  function show(next) {
    place = next;
    const isHere = answer && answeredText === next.text && answer.rows[next.index - answer.first];
    if (!isHere) refresh();
    else {
      mark();
      open();
    }
  }

  async function refresh() {
    const { text } = place;
    /** @type {LensAnswer | undefined} */
    const reply = await answerTo('lens', { middle: middle.checked });
    if (!reply) return;
    if (!answer || answer.columns.length !== reply.columns.length) column = reply.columns.length - 1;
    [answer, answeredText] = [reply, text];
    draw();
    mark();
    await open();
  }

  function draw() {
    const { columns, rows, total, labels } = answer;
    const head = [make('th', { scope: 'col', class: 'at-lens-token', text: 'Token' }),
      make('th', { scope: 'col', class: 'at-lens-decided', text: 'decided', title: 'The first layer from which on the token stays the best guess' }),
      ...columns.map((name) => make('th', { scope: 'col', text: shortName(name), title: `After ${columnName(name)}` }))];
    cells = rows.map((row, y) => columns.map((name, x) => guessCell(row, name, x, y)));
    const lines = rows.map((row, y) => make('tr', {},
      make('th', { scope: 'row', class: 'at-lens-token', 'data-row': y, 'data-column': -1, title: visibleText(labels[row.id]) }, tokenChip(labels[row.id])),
      make('td', { class: 'at-number at-lens-decided', text: row.decided === null ? 'never' : String(row.decided) }), ...cells[y]));
    grid.replaceChildren(makeTable({ class: 'at-lens' }, head, lines, 'The best guess of every layer in the place of every token'));
    part.hidden = rows.length === total;
    part.textContent = `These are ${rows.length} of ${total} tokens. Select another one in the text to see the guesses around it.`;
    data.draw();
  }

  /** @param {LensRow} row @param {string} name of the column @param {number} x @param {number} y */
  function guessCell(row, name, x, y) {
    const text = visibleText(answer.labels[row.top[x]]);
    const isIt = row.top[x] === row.id;
    return make('td', {
      class: `at-lens-cell${isIt ? ' at-same' : ''}`, tabindex: -1, 'data-row': y, 'data-column': x, 'data-attention': level(row.chosen[x]),
      title: `After ${columnName(name)}: ${text} ${percent(row.top_probability[x])}${isIt ? '' : `, ${visibleText(answer.labels[row.id])} ${percent(row.chosen[x])}`}`,
      text,
    });
  }

  /** Mark the row of the selected token and the selected column. */
  function mark() {
    const here = place.index - answer.first;
    grid.querySelectorAll('tbody tr').forEach((line, y) => line.classList.toggle('at-here', y === here));
    for (const one of grid.querySelectorAll('.at-picked')) one.classList.remove('at-picked');
    for (const one of grid.querySelectorAll('td[tabindex="0"]')) one.setAttribute('tabindex', '-1');
    const target = cells[here]?.[column];
    target?.classList.add('at-picked');
    target?.setAttribute('tabindex', '0');
    if (target) bringIntoView(target);
  }

  /** Scroll the table alone, past the names that stay where they are. @param {HTMLElement} target */
  function bringIntoView(target) {
    const [names, head] = [grid.querySelector('th').offsetWidth, target.offsetHeight];
    const [left, top] = [target.offsetLeft, target.offsetTop];
    if (left < grid.scrollLeft + names || left + target.offsetWidth > grid.scrollLeft + grid.clientWidth) grid.scrollLeft = left + target.offsetWidth - grid.clientWidth;
    if (top < grid.scrollTop + head || top + target.offsetHeight > grid.scrollTop + grid.clientHeight) grid.scrollTop = top - grid.clientHeight / 2;
  }

  /** @param {number} row @param {number} x the column; -1 for the token itself */
  function pick(row, x) {
    if (x >= 0) column = x;
    const index = answer.first + row;
    if (index !== place.index) selectToken(place.run, index); // which shows it here, too
    else {
      mark();
      drawDetails();
    }
  }

  /** @param {HTMLElement | undefined} target */
  function focus(target) {
    if (!target) return;
    target.focus({ preventScroll: true });
    bringIntoView(target);
  }

  /** @param {KeyboardEvent} event */
  function move(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.dataset.row === undefined) return;
    const [y, x] = [Number(target.dataset.row), Number(target.dataset.column)];
    const delta = onPlane(event.key);
    if (presses(event.key)) pick(y, x);
    else if (delta) focus(cells[y + delta[1]]?.[x + delta[0]]);
    else return;
    event.preventDefault();
  }

  /** Ask for the guesses of the selected token. */
  async function open() {
    const at = `${place.text} ${place.index}`;
    if (pinnedAt !== at) {
      pinnedAt = at;
      const rival = rivalOf(place.step);
      pinned = rival ? [rival.id] : [];
    }
    /** @type {LensCell | undefined} */
    const reply = await answerTo('lens_cell', { middle: middle.checked, pinned });
    if (!reply) return;
    cell = reply;
    drawDetails();
  }

  function drawDetails() {
    if (!cell) return;
    const { columns, top, probabilities, ids, curves, labels } = cell;
    const here = Math.min(column, columns.length - 1);
    const rows = top[here].map((id, i) => make('tr', { class: id === ids[0] ? 'at-won' : '' },
      make('th', { scope: 'row', title: visibleText(labels[id]) }, tokenChip(labels[id])),
      barCell(percent(probabilities[here][i]), probabilities[here][i] / (probabilities[here][0] || 1)),
      make('td', { class: 'at-take-cell' }, id === ids[0] ? '' : pinButton(id))));
    const picture = makeCurves({
      columns: columns.map(shortName), marked: here, title: 'Probability after each layer', width: Math.min(560, node.clientWidth || 560),
      lines: ids.map((id, i) => ({ name: visibleText(labels[id]), values: curves[i] })),
      onPick: (x) => {
        column = x;
        mark();
        drawDetails();
      },
    });
    details.replaceChildren(
      make('section', { class: 'at-lens-best', 'aria-label': 'Best guesses' },
        make('h4', {}, `After ${columnName(columns[here])}, in the place of `, tokenChip(labels[ids[0]])),
        makeTable({ class: 'at-grid' }, headCells([{ text: 'Token' }, { text: 'Probability' }, { text: '' }]), rows, 'The ten best guesses of this layer')),
      make('section', { class: 'at-lens-curves', 'aria-label': 'Probability after each layer' },
        make('div', { class: 'at-row at-between' }, make('h4', { text: 'Probability after each layer' }), pictureButton(() => picture, ['layers', labels[ids[0]]])), picture));
    data.draw();
  }

  /** @param {number} id */
  function pinButton(id) {
    const isPinned = pinned.includes(id);
    return makeButton(isPinned ? 'unpin' : 'pin', () => {
      pinned = isPinned ? pinned.filter((one) => one !== id) : [...pinned, id].slice(-MAX_PINNED);
      open();
    }, { 'aria-pressed': String(isPinned), 'aria-label': `${isPinned ? 'Unpin' : 'Pin'} ${visibleText(cell.labels[id])}`, class: 'at-take' });
  }

  function sheets() {
    if (!answer) return [];
    const { columns, rows, labels } = answer;
    const name = (id) => JSON.stringify(labels[id]);
    const sheet = {
      title: 'Layers’ guesses', head: ['token', 'decided at layer', ...columns.flatMap((one) => [`${one}: guess`, `${one}: its probability`, `${one}: probability of the token`])],
      rows: rows.map((row) => [name(row.id), row.decided ?? 'never', ...columns.flatMap((_, x) => [name(row.top[x]), row.top_probability[x], row.chosen[x]])]),
    };
    if (!cell) return [sheet];
    const curves = {
      title: 'Probability after each layer', head: ['layer', ...cell.ids.map((id) => JSON.stringify(cell.labels[id]))],
      rows: cell.columns.map((one, x) => [one, ...cell.curves.map((curve) => curve[x])]),
    };
    return [sheet, curves];
  }

  return { node, show };
}
