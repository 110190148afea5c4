/**
 * The part `class` of the page's address, which a teacher's link has beside the ordinary ones: the class's name, by which its
 * scores are gathered, and words for what its students see and do. Without it, the page is not in a class.
 *
 * @typedef {'guess' | 'inspector' | 'present' | 'settings' | 'write'} ClassWord `guess`: they guess each token before they see
 *   it; `inspector` and `settings`: they see these; `present`: in large type; `write`: they may change the text
 * @typedef {{name: string, words: ClassWord[]}} Classroom
 */

import { partOf } from './address.js';

const WORDS = new Set(['guess', 'inspector', 'present', 'settings', 'write']);
const NAME = /^[a-z0-9]{8,20}$/; // ui/classroom/scores.py has the same

/** @param {string} text @returns {Classroom | null} null if it is not valid */
export function readClass(text) {
  const [name, ...words] = text.slice(0, 100).split('.');
  const isValid = NAME.test(name) && words.length === new Set(words).size && words.every((word) => WORDS.has(word));
  return isValid ? { name, words: /** @type {ClassWord[]} */ (words) } : null;
}

/** @param {Classroom} classroom */
export const classPart = ({ name, words }) => [name, ...words].join('.');

/** The class in whose link the page was opened. @returns {Classroom | null} */
export const currentClass = () => readClass(partOf('class') ?? '');

/** Whether visitors may change the text: a class may not, unless its link says so. */
export const mayChangeText = () => currentClass()?.words.includes('write') ?? true;

/** Whether all students get the same text, so that their guesses have a mean. @param {ClassWord[]} words */
export const hasOneText = (words) => !words.includes('write') && !words.includes('settings');

/** A new name, which nobody guesses. */
export function newClassName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => (byte % 36).toString(36)).join('');
}
