/**
 * Finds the glossary's terms in a text.
 *
 * @typedef {{key: Term, from: number, to: number}} Found a term, and the characters that name it
 */

/** @import { Term } from './terms.js' */

import { TERMS } from './terms.js';

const KEYS = new Map(Object.entries(TERMS).flatMap(([key, spellings]) =>
  spellings.map((spelling) => /** @type {[string, Term]} */ ([spelling.toLowerCase(), key]))));
const ESCAPED = /[.*+?^${}()|[\]\\]/g;
const LONGEST_FIRST = [...KEYS.keys()].toSorted((one, other) => other.length - one.length);
const SPELT = LONGEST_FIRST.map((spelling) => spelling.replace(ESCAPED, '\\$&')).join('|');
// Whole words, and none of a path such as model/transformer/attention.py.
const PATTERN = new RegExp(`(?<![\\p{L}\\p{N}_/-])(${SPELT})s?(?![\\p{L}\\p{N}_/-]|\\.\\p{L})`, 'giu');
const QUOTED = /“[^”]*”/g; // titles, and words of examples

/** @param {string} text @returns {Found[]} in the order of the text */
export const termsIn = (text) => [...unquoted(text).matchAll(PATTERN)].map(({ 0: word, 1: spelling, index }) => ({
  key: KEYS.get(spelling.toLowerCase()), from: index, to: index + word.length,
}));

/** The same text with spaces where it quotes something. @param {string} text */
const unquoted = (text) => text.replace(QUOTED, (quoted) => ' '.repeat(quoted.length));
