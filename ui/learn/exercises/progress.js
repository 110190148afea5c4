/**
 * Which exercises are solved, kept in the visitor's browser alone.
 */

import { remember, remembered } from '../../kit/js/storage.js';

/** @param {string} chapter @returns {Set<string>} the questions that were answered rightly */
function solvedIn(chapter) {
  try {
    const solved = JSON.parse(remembered(`solved-${chapter}`, '[]'));
    return new Set(Array.isArray(solved) ? solved : []);
  } catch {
    return new Set();
  }
}

/** @param {string} chapter @param {string} question */
export const isSolved = (chapter, question) => solvedIn(chapter).has(question);

/** @param {string} chapter */
export const solvedCount = (chapter) => solvedIn(chapter).size;

/** @param {string} chapter @param {string} question */
export const markSolved = (chapter, question) =>
  remember(`solved-${chapter}`, JSON.stringify([...solvedIn(chapter).add(question)]));
