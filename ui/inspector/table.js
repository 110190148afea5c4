/**
 * The candidates of one step as a table: probabilities before and after the filters, or the filter that removed them.
 */

/** @import { Candidate, Step } from './step.js' */

import { make, makeTable } from '../kit/js/dom.js';
import { counted, percent, stageName, tokenChip, visibleText } from '../kit/js/text.js';
import { barCell, headCells } from './step.js';

/**
 * What can be done with a candidate that was not chosen; null where it can't.
 * @typedef {{take: ((id: number) => void) | null, ask: ((id: number) => void) | null}} CandidateActions `take`: use it instead;
 *   `ask`: why it was not chosen
 */

/**
 * The candidates, and a last row for all other tokens.
 * @param {Step} step
 * @param {CandidateActions} actions
 */
export function stepTable(step, actions) {
  const isFiltered = step.stages.length > 1;
  const largest = Math.max(...step.candidates.flatMap(({ modelShare, finalShare }) => [modelShare, finalShare]));
  const head = headCells([{ text: 'Token', term: 'token' }, { text: 'Model' }, ...(isFiltered ? [{ text: 'Final' }] : [])]);
  const hasActions = Boolean(actions.take ?? actions.ask);
  if (hasActions) head.push(make('th', { scope: 'col' }, make('span', { class: 'at-hidden', text: 'Use it or ask about it' })));
  const rows = step.candidates.map((candidate) => candidateRow(candidate, isFiltered, largest, actions));
  rows.push(restRow(step, isFiltered, largest, hasActions));
  return makeTable({ class: 'at-grid at-table' }, head, rows, 'Candidates for this position');
}

/** @param {Candidate} candidate @param {boolean} isFiltered @param {number} largest @param {CandidateActions} actions */
function candidateRow({ id, text, isChosen, modelShare, finalShare, removedBy }, isFiltered, largest, { take, ask }) {
  const name = make('th', { scope: 'row', title: visibleText(text) }, tokenChip(text));
  const node = make('tr', { class: [isChosen && 'at-won', removedBy && 'at-removed'].filter(Boolean).join(' ') }, name,
    shareCell(modelShare, largest, 'at-before'));
  if (isChosen) name.append(make('span', { class: 'at-hidden', text: ' (chosen)' }));
  if (isFiltered) {
    node.append(removedBy ? make('td', { class: 'at-sm at-by' }, make('span', { class: 'at-by-removed', text: 'removed ' }), `by ${stageName(removedBy)}`)
      : shareCell(finalShare, largest));
  }
  if (isChosen) {
    if (take ?? ask) node.append(make('td'));
    return node;
  }
  const word = visibleText(text);
  const buttons = [
    ...(ask ? [makeAction('why?', `why not ${word}?`, () => ask(id))] : []),
    ...(take ? [makeAction('use', `use ${word} instead`, () => take(id))] : []),
  ];
  if (buttons.length) node.append(make('td', { class: 'at-take-cell' }, make('span', { class: 'at-row at-gap-2xs' }, ...buttons)));
  if (take) {
    node.classList.add('at-takeable');
    node.title = `Use ${word} instead`;
    node.addEventListener('click', () => take(id));
  }
  return node;
}

/** @param {string} text @param {string} label for screen readers @param {() => void} act */
const makeAction = (text, label, act) => make('button', {
  type: 'button', class: 'at-take', 'aria-label': label, text,
  onclick: (/** @type {Event} */ event) => {
    event.stopPropagation(); // a click on the row is one on "use"
    act();
  },
});

/** @param {Step} step @param {boolean} isFiltered @param {number} largest @param {boolean} hasActions */
function restRow(step, isFiltered, largest, hasActions) {
  const others = step.kept[0] - step.candidates.length;
  const keptOthers = step.kept.at(-1) - step.candidates.filter(({ removedBy }) => !removedBy).length;
  const kept = isFiltered && keptOthers > 0 && keptOthers < others ? ` (${counted.format(keptOthers)} kept)` : '';
  return make('tr', { class: 'at-rest' },
    make('th', { scope: 'row', text: `${counted.format(others)} others${kept}` }),
    shareCell(step.rest[0], largest, 'at-before'),
    ...(isFiltered ? [shareCell(step.rest.at(-1), largest)] : []), ...(hasActions ? [make('td')] : []));
}

/** @param {number} p @param {number} largest @param {string} [kind] */
const shareCell = (p, largest, kind) => barCell(percent(p), p / largest, kind);
