/**
 * The part `class` of the page's address, which a teacher's link has beside the ordinary ones: the class's name, by which its
 * scores are gathered, words for what its students see and do, and the length of a round if it isn't the usual one. Without
 * it, the page is not in a class. The valid parts of a damaged link still count.
 *
 * @typedef {'guess' | 'inspector' | 'present' | 'settings' | 'write'} ClassWord `guess`: they guess each token before they see
 *   it; `inspector` and `settings`: they see these; `present`: in large type; `write`: they may change the text
 * @typedef {object} Classroom
 * @property {string} name "" if the link has no valid one
 * @property {ClassWord[]} words
 * @property {number} round how many tokens they guess before the whole text is shown
 * @property {string[]} faults the parts that are none of these
 */

import { partOf } from './address.js';

/** Guesses in a round: at least, usually and at most. */
export const ROUND = { least: 1, usual: 12, most: 60 };

const WORDS = new Set(['guess', 'inspector', 'present', 'settings', 'write']);
const NAME = /^[a-z0-9]{8,20}$/; // ui/classroom/scores.py has the same
const MAX_READ = 100; // characters

/** @param {string} text @returns {Classroom} */
export function readClass(text) {
  const [name, ...rest] = text.slice(0, MAX_READ).split('.');
  /** @type {Classroom} */
  const classroom = { name: '', words: [], round: ROUND.usual, faults: [] };
  if (NAME.test(name)) classroom.name = name;
  else classroom.faults.push(name);
  for (const part of new Set(rest)) {
    if (WORDS.has(part)) classroom.words.push(/** @type {ClassWord} */ (part));
    else if (/^\d{1,3}$/.test(part) && isRound(Number(part))) classroom.round = Number(part);
    else classroom.faults.push(part);
  }
  return classroom;
}

/** @param {number} round */
export const isRound = (round) => Number.isInteger(round) && round >= ROUND.least && round <= ROUND.most;

/** @param {Omit<Classroom, 'faults'>} classroom */
export const classPart = ({ name, words, round }) => [name, ...words, ...(round === ROUND.usual ? [] : [round])].join('.');

/** The class in whose link the page was opened. @returns {Classroom | null} */
export function currentClass() {
  const part = partOf('class');
  return part === null ? null : readClass(part);
}

/** Whether visitors may change the text: a class may not, unless its link says so. */
export const mayChangeText = () => currentClass()?.words.includes('write') ?? true;

/** Whether all students get the same text, so that their guesses have a mean. @param {ClassWord[]} words */
export const hasOneText = (words) => !words.includes('write') && !words.includes('settings');

/** A new random name, which nobody guesses. */
export function newName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => (byte % 36).toString(36)).join('');
}
