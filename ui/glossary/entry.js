/**
 * An entry of the glossary as it is shown: what the term means, its formula, who introduced it, and the chapter on it.
 *
 * @typedef {{titles: Record<string, {title: string}>, isOffered: () => boolean, open: (key: string) => void}} Course the
 *   chapters of Learn by their keys, in order; `isOffered`: whether they can be shown now
 */

import { make } from '../kit/js/dom.js';
import { formula } from '../kit/js/formula.js';
import { ENTRIES } from './entries.js';
import { helps } from './helps.js';
import { markTerms } from './highlight.js';
import { opensElsewhere } from './term_link.js';

/** Whether there is something to say on this page: the settings explain theirs where they are shown. @param {string} key @returns {key is import('./terms.js').Term} */
export const isExplained = (key) => Object.hasOwn(ENTRIES, key) && meaning(ENTRIES[key]).length > 0;

/**
 * @param {import('./entries.js').Entry} entry
 * @returns {{where: string, text: string}[]} its paragraphs
 */
export function meaning({ text, help }) {
  const explanation = helps.get(help);
  return [...(text ? [{ where: '', text }] : []), ...(explanation ? [{ ...explanation, where: text ? `${explanation.where}: ` : '' }] : [])];
}

/**
 * @param {import('./terms.js').Term} key
 * @param {Course} course
 * @returns {Node[]}
 */
export function entryBody(key, course) {
  const entry = ENTRIES[key];
  const known = new Set([key]);
  const paragraphs = meaning(entry).map(({ where, text }) => {
    const node = make('p', {}, ...(where ? [make('span', { class: 'at-quiet', text: where })] : []), text);
    markTerms(node, known);
    return node;
  });
  return [
    ...paragraphs,
    ...(entry.formula ? [make('p', { class: 'at-term-formula' }, formula(entry.formula))] : []),
    ...(entry.source ? [make('p', { class: 'at-quiet', text: entry.source })] : []),
    ...(entry.chapter && course.isOffered() ? [chapterLink(entry.chapter, course)] : []),
  ];
}

/** @param {string} key @param {Course} course */
function chapterLink(key, { titles, open }) {
  const number = Object.keys(titles).indexOf(key) + 1;
  const link = make('a', {
    href: `?tab=Learn&chapter=${key}`, text: `chapter ${number}, “${titles[key].title}”`, onclick: (event) => {
      if (opensElsewhere(event, link, { tab: 'Learn', chapter: key })) return;
      event.preventDefault();
      open(key);
    },
  });
  return make('p', { class: 'at-term-chapter' }, 'Shown in ', link);
}
