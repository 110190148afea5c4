/**
 * The candidates of one step as a table: probabilities before and after the filters, or the filter that removed them.
 */

/** @import { Candidate, Step } from './step.js' */

import { make, makeTable } from '../kit/js/dom.js';
import { counted, percent, stageName, tokenChip, visibleText } from '../kit/js/text.js';
import { barCell, headCells, last } from './step.js';

/**
 * The candidates, and a last row for all other tokens.
 * @param {Step} step
 * @param {((id: number) => void) | null} take where another token may be taken instead
 */
export function stepTable(step, take) {
  const filtered = step.stages.length > 1;
  const largest = Math.max(...step.candidates.flatMap(({ probabilities }) => [probabilities[0], last(probabilities)]));
  /** @type {import('./step.js').Head[]} */
  const columns = [['Token', undefined, 'token'], ['Model'], ['Final']];
  const head = headCells(columns.slice(0, filtered ? 3 : 2));
  if (take) head.push(make('th', { scope: 'col' }, make('span', { class: 'at-hidden', text: 'Use instead' })));
  const rows = step.candidates.map((candidate) => candidateRow(candidate, filtered, largest, take));
  rows.push(restRow(step, filtered, largest, take !== null));
  return makeTable({ class: 'at-grid at-table' }, head, rows, 'Candidates for this position');
}

/** @param {Candidate} candidate @param {boolean} filtered @param {number} largest @param {((id: number) => void) | null} take */
function candidateRow({ id, text, isChosen, probabilities, removedBy }, filtered, largest, take) {
  const name = make('th', { scope: 'row', title: visibleText(text) }, tokenChip(text));
  const node = make('tr', { class: [isChosen && 'at-won', removedBy && 'at-removed'].filter(Boolean).join(' ') }, name,
    shareCell(probabilities[0], largest, 'at-before'));
  if (isChosen) name.append(make('span', { class: 'at-hidden', text: ' (chosen)' }));
  if (filtered) {
    node.append(removedBy ? make('td', { class: 'at-sm at-by' }, make('span', { class: 'at-by-removed', text: 'removed ' }), `by ${stageName(removedBy)}`)
      : shareCell(last(probabilities), largest));
  }
  if (take && !isChosen) {
    const button = make('button', {
      type: 'button', class: 'at-take', 'aria-label': `use ${visibleText(text)} instead`, text: 'use',
    });
    node.append(make('td', { class: 'at-take-cell' }, button));
    node.classList.add('at-takeable');
    node.addEventListener('click', () => take(id));
  } else if (take) node.append(make('td'));
  return node;
}

/** @param {Step} step @param {boolean} filtered @param {number} largest @param {boolean} takeable */
function restRow(step, filtered, largest, takeable) {
  const others = step.kept[0] - step.candidates.length;
  const left = last(step.kept) - step.candidates.filter(({ removedBy }) => !removedBy).length;
  const kept = filtered && left > 0 && left < others ? ` (${counted.format(left)} kept)` : '';
  return make('tr', { class: 'at-rest' },
    make('th', { scope: 'row', text: `${counted.format(others)} others${kept}` }),
    shareCell(step.rest[0], largest, 'at-before'),
    ...(filtered ? [shareCell(last(step.rest), largest)] : []), ...(takeable ? [make('td')] : []));
}

/** @param {number} p @param {number} largest @param {string} [kind] */
const shareCell = (p, largest, kind) => barCell(percent(p), p / largest, kind);
