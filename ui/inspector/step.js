/**
 * One step: its headline, and helpers for the table, the reason and the filters.
 *
 * @typedef {CandidateEntry & {text: string, isChosen: boolean, removedBy: string | null, modelShare: number,
 *   finalShare: number}} Candidate with its name, the filter that removed it, and its probability before and after all filters
 * @typedef {Omit<StepEntry, 'candidates'> & {candidates: Candidate[], nameOf: (id: number) => string}} Step
 * @typedef {{text: string, help?: string, term?: import('../glossary/terms.js').Term}} ColumnHead a word over a column, what it
 *   means, and which entry of the glossary it opens
 */

/** @import { CandidateEntry, StepEntry } from '../../decoding/run/run_document' */

import { termLink } from '../glossary/term_link.js';
import { make } from '../kit/js/dom.js';
import { counted, percent, tokenChip, visible } from '../kit/js/text.js';

/**
 * A step of a run document, with the names of its tokens.
 * @param {StepEntry} step @param {Record<string, string>} labels @returns {Step}
 */
export function named(step, labels) {
  const nameOf = (id) => labels[id] ?? '';
  const candidates = step.candidates.map((candidate) => ({
    ...candidate, text: nameOf(candidate.id), isChosen: candidate.id === step.id, removedBy: removedBy(step, candidate),
    modelShare: candidate.probabilities[0], finalShare: candidate.probabilities.at(-1),
  }));
  return { ...step, candidates, nameOf };
}

/** The filter that removed a token: its probability was above 0 before. @param {StepEntry} step @param {CandidateEntry} candidate */
function removedBy({ stages }, { probabilities }) {
  const stage = probabilities.findIndex((share, index) => index > 0 && share === 0 && probabilities[index - 1] > 0);
  return stage < 0 ? null : stages[stage];
}

/** @param {Step} step */
export const chosenOf = (step) => step.candidates.find(({ isChosen }) => isChosen);

/** The model's own probability of the token that was chosen. @param {Step} step */
export const probabilityOf = (step) => chosenOf(step).modelShare;

/** Sorted by the probability after a stage, the most probable first; ties by id. @param {Candidate[]} candidates @param {number} stage */
export const ranked = (candidates, stage) =>
  candidates.toSorted((one, other) => other.probabilities[stage] - one.probabilities[stage] || one.id - other.id);

/**
 * What a choice is best compared with: the likeliest other token that isn't the same word with another space or in other
 * letters. Undefined where there is no other one.
 * @param {Step} step
 */
export function rivalOf(step) {
  const wordOf = ({ text }) => text.trim().toLowerCase();
  const others = ranked(step.candidates, 0).filter(({ isChosen }) => !isChosen);
  return others.find((other) => wordOf(other) !== wordOf(chosenOf(step))) ?? others[0];
}

/**
 * The headline: which token, how probable, how surprising.
 * @param {{text: string, position: string, step: Step | undefined, why: string}} about
 */
export function stepHeadline({ text, position, step, why }) {
  const facts = step
    ? [`${percent(probabilityOf(step))} · rank ${counted.format(step.rank)} of ${counted.format(step.kept[0])} · `,
       termLink('entropy', 'entropy'), ` ${step.entropy[0].toFixed(1)} bits`]
    : [why];
  return [
    make('span', { class: 'at-strong at-position', text: position }),
    tokenChip(text),
    make('span', { class: 'at-quiet at-facts' }, ...facts),
  ];
}

/** @param {ColumnHead[]} heads all but the first stand over numbers */
export const headCells = (heads) => heads.map(({ text, help, term }, index) =>
  make('th', { scope: 'col', class: `${index ? 'at-number' : ''}${help ? ' at-explained' : ''}`, title: help }, term ? termLink(term, text) : text));

/** A number over its bar. @param {string} text @param {number} share of the longest bar @param {string} kind */
export function barCell(text, share, kind = 'at-after') {
  const cell = make('td', { class: `at-number at-share ${kind}`, text });
  cell.style.setProperty('--share', String(Math.min(1, Math.max(0, share))));
  return cell;
}

/** A titled part of the selected step. @param {string} title @param {...Node} children */
export const part = (title, ...children) =>
  make('section', { class: 'at-part', 'aria-label': title }, make('h3', { text: title }), ...children);

/** The one space before a word. @param {string} text of a token */
export const leading = (text) => (/^ [^ ]/u.test(text) ? [' '] : []);

/** A token within a text, where that space is a space. @param {string} text */
export const inText = (text) => [...leading(text), ...visible(text, true)];
