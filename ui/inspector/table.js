/**
 * The candidates of one step as a table: probabilities before and after the filters, or the filter that removed them.
 */

/** @import { Candidate, Step } from './step.js' */

import { make, makeTable } from '../kit/js/dom.js';
import { counted, percent, stageName, tokenChip, visibleText } from '../kit/js/text.js';
import { barCell, headCells } from './step.js';

/**
 * The candidates, and a last row for all other tokens.
 * @param {Step} step
 * @param {((id: number) => void) | null} take uses another token instead; null where none can be used
 */
export function stepTable(step, take) {
  const isFiltered = step.stages.length > 1;
  const largest = Math.max(...step.candidates.flatMap(({ modelShare, finalShare }) => [modelShare, finalShare]));
  const head = headCells([{ text: 'Token', term: 'token' }, { text: 'Model' }, ...(isFiltered ? [{ text: 'Final' }] : [])]);
  if (take) head.push(make('th', { scope: 'col' }, make('span', { class: 'at-hidden', text: 'Use instead' })));
  const rows = step.candidates.map((candidate) => candidateRow(candidate, isFiltered, largest, take));
  rows.push(restRow(step, isFiltered, largest, take !== null));
  return makeTable({ class: 'at-grid at-table' }, head, rows, 'Candidates for this position');
}

/** @param {Candidate} candidate @param {boolean} isFiltered @param {number} largest @param {((id: number) => void) | null} take */
function candidateRow({ id, text, isChosen, modelShare, finalShare, removedBy }, isFiltered, largest, take) {
  const name = make('th', { scope: 'row', title: visibleText(text) }, tokenChip(text));
  const node = make('tr', { class: [isChosen && 'at-won', removedBy && 'at-removed'].filter(Boolean).join(' ') }, name,
    shareCell(modelShare, largest, 'at-before'));
  if (isChosen) name.append(make('span', { class: 'at-hidden', text: ' (chosen)' }));
  if (isFiltered) {
    node.append(removedBy ? make('td', { class: 'at-sm at-by' }, make('span', { class: 'at-by-removed', text: 'removed ' }), `by ${stageName(removedBy)}`)
      : shareCell(finalShare, largest));
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

/** @param {Step} step @param {boolean} isFiltered @param {number} largest @param {boolean} hasTakeColumn */
function restRow(step, isFiltered, largest, hasTakeColumn) {
  const others = step.kept[0] - step.candidates.length;
  const keptOthers = step.kept.at(-1) - step.candidates.filter(({ removedBy }) => !removedBy).length;
  const kept = isFiltered && keptOthers > 0 && keptOthers < others ? ` (${counted.format(keptOthers)} kept)` : '';
  return make('tr', { class: 'at-rest' },
    make('th', { scope: 'row', text: `${counted.format(others)} others${kept}` }),
    shareCell(step.rest[0], largest, 'at-before'),
    ...(isFiltered ? [shareCell(step.rest.at(-1), largest)] : []), ...(hasTakeColumn ? [make('td')] : []));
}

/** @param {number} p @param {number} largest @param {string} [kind] */
const shareCell = (p, largest, kind) => barCell(percent(p), p / largest, kind);
