/**
 * Which exercises are solved, by their names, kept in the visitor's browser alone.
 */

import { remember, remembered } from '../../kit/js/storage.js';

/** @param {string} chapter @returns {Set<string>} the names of its exercises; from earlier versions, their questions */
function solvedIn(chapter) {
  try {
    const solved = JSON.parse(remembered(`solved-${chapter}`, '[]'));
    return new Set(Array.isArray(solved) ? solved : []);
  } catch {
    return new Set();
  }
}

/** @param {string} chapter @param {string} name */
export const isSolved = (chapter, name) => solvedIn(chapter).has(name);

/** @param {string} chapter */
export const solvedCount = (chapter) => solvedIn(chapter).size;

/** @param {string} chapter @param {string} name */
export const markSolved = (chapter, name) => keep(chapter, [...solvedIn(chapter).add(name)]);

/**
 * Forget exercises that the chapter no longer has, and replace questions, which earlier versions stored, by names.
 * @param {string} chapter @param {{name: string, question: string}[]} exercises all of the chapter
 */
export function tidySolved(chapter, exercises) {
  const solved = solvedIn(chapter);
  if (solved.size) keep(chapter, exercises.filter(({ name, question }) => solved.has(name) || solved.has(question)).map(({ name }) => name));
}

/** @param {string} chapter @param {string[]} names */
const keep = (chapter, names) => remember(`solved-${chapter}`, JSON.stringify(names));
