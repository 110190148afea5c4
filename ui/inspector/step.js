/**
 * One step: its headline, and helpers for the table, the reason and the filters.
 *
 * @typedef {[text: string, title?: string, term?: import('../glossary/terms.js').Term]} Head a word over a column, what it
 *   means, and which entry of the glossary it opens
 */

/** @import { CandidateRow, StepValue } from './inspector_contract' */

import { termLink } from '../glossary/term_link.js';
import { make } from '../kit/js/dom.js';
import { counted, percent, tokenChip } from '../kit/js/text.js';

/** @template Item @param {Item[]} list */
export const last = (list) => list[list.length - 1];

/** @param {StepValue} step */
export const chosenRow = (step) => step.rows.find((row) => row[2]);

/** @param {CandidateRow[]} rows @param {number} stage @returns {CandidateRow[]} most probable first after that stage, ties by id */
export const ranked = (rows, stage) => rows.toSorted((a, b) => b[3][stage] - a[3][stage] || a[0] - b[0]);

/**
 * The headline: which token, how probable, how surprising.
 * @param {{text: string, position: string, step: StepValue | undefined, why: string}} about
 */
export function stepHeadline({ text, position, step, why }) {
  const facts = step
    ? [`${percent(chosenRow(step)[3][0])} · rank ${counted.format(step.rank)} of ${counted.format(step.kept[0])} · `,
       termLink('entropy', 'entropy'), ` ${step.entropy[0].toFixed(1)} bits`]
    : [why];
  return [
    make('span', { class: 'at-position', text: position }),
    tokenChip(text),
    make('span', { class: 'at-facts' }, ...facts),
  ];
}

/** @param {Head[]} heads all but the first stand over numbers */
export const headCells = (heads) => heads.map(([text, title, term], index) =>
  make('th', { scope: 'col', class: index ? 'at-number' : '', title }, term ? termLink(term, text) : text));

/** A number over its bar. @param {string} text @param {number} share of the longest bar @param {string} kind */
export function barCell(text, share, kind = 'at-after') {
  const cell = make('td', { class: `at-number at-share ${kind}`, text });
  cell.style.setProperty('--share', String(Math.min(1, Math.max(0, share))));
  return cell;
}

/** A titled part of the selected step. @param {string} title @param {...Node} children */
export const part = (title, ...children) =>
  make('section', { class: 'at-part', 'aria-label': title }, make('h3', { text: title }), ...children);
