/**
 * Tokens, side by side: a text as rules and as our models cut it, as in lesson/tokens.py.
 */

/** @import { Section } from '../answers.js' */

import { checkText, significant, split } from './numbers.js';

const MAX = 2000; // characters
const PIECES = 1500; // that are shown, of all cuts together
const JOINED = 200; // characters that are shown of a text that does not come back
const BRIEF = 40; // of a piece

/** @typedef {{pieces: string[], ids: number[], vocabulary: number, joined: string}} Cut */

/** Words and, each by itself, all signs between them. @param {string} text */
const wordsOf = (text) => (text.match(/[_\p{L}\p{M}\p{N}]+|[^_\p{L}\p{M}\p{N}]/gu) ?? []).filter((piece) => split(piece).length);

/** @type {Record<string, (text: string) => Cut>} */
const RULES = {
  words(text) {
    const pieces = wordsOf(text), distinct = [...new Set(pieces)];
    return { pieces, ids: pieces.map((piece) => distinct.indexOf(piece)), vocabulary: distinct.length, joined: pieces.join(' ') };
  },
  characters: (text) => ({ pieces: [...text], ids: [...text].map((one) => one.codePointAt(0)), vocabulary: 0x110000, joined: text }),
  bytes(text) {
    const ids = [...new TextEncoder().encode(text)];
    return { pieces: ids.map((byte) => byte.toString(16).toUpperCase().padStart(2, '0')), ids, vocabulary: 256, joined: text };
  },
};

/** Whether a mark combines: only those that do change places. @param {string} mark */
const combines = (mark) => mark === '\u0345' || `\u0345${mark}`.normalize('NFD')[0] !== '\u0345';

/** What is lost, and the text without it. @type {Record<string, (text: string) => string>} */
const UNSEEN = {
  'white space': (text) => split(text).join(''),
  capitals: (text) => text.toLowerCase(),
  accents: (text) => [...text.normalize('NFD')].filter((one) => !combines(one)).join(''),
};

/** What decoding lost. @param {string} text @param {string} joined */
function lost(text, joined) {
  const kinds = Object.keys(UNSEEN);
  const differs = (/** @type {string[]} */ unseen) => unseen.reduce((was, kind) => UNSEEN[kind](was), text) !== unseen.reduce((now, kind) => UNSEEN[kind](now), joined);
  if (!differs(kinds)) return kinds.filter((kind) => differs(kinds.filter((other) => other !== kind)));
  const noneLeft = ['capitals', 'accents'].filter((kind) => joined && UNSEEN[kind](joined) === joined && UNSEEN[kind](text) !== text);
  return [...noneLeft, 'some characters'];
}

/** @param {string} text */
const brief = (text) => ([...text].length > BRIEF ? `${[...text].slice(0, BRIEF).join('')}…` : text);

/** @type {Section[]} */
export const sections = [{
  inputs: ['text'],
  async compute({ text }, { own, tokenizer }) {
    checkText(text, 'Text', MAX);
    if (!text.isWellFormed()) throw new Error('The text contains half a character: delete it and type it again.');
    const ways = own.cuts.filter(({ error }) => !error), most = Math.floor(PIECES / own.cuts.length);
    const cuts = await Promise.all(ways.map(async ({ name, location, rule, vocabulary }) => {
      const cut = rule ? RULES[name](text) : by(await tokenizer(name), text, vocabulary);
      const gone = lost(text, cut.joined);
      return {
        name, location, rule, error: '',
        pieces: cut.pieces.slice(0, most).map((piece, index) => [brief(piece), cut.ids[index]]),
        count: cut.ids.length,
        each: cut.ids.length ? significant([...text].length / cut.ids.length) : null,
        vocabulary: cut.vocabulary,
        lost: gone,
        joined: gone.length ? [...cut.joined].slice(0, JOINED).join('') : null,
        shortened: gone.length > 0 && [...cut.joined].length > JOINED,
      };
    }));
    return { characters: [...text].length, cuts };
  },
}];

/** @param {import('../../text/tokenizer.js').Tokenizer} tokenizer @param {string} text @param {number} vocabulary @returns {Cut} */
function by(tokenizer, text, vocabulary) {
  const ids = tokenizer.encode(text);
  return { pieces: ids.map((id) => tokenizer.label(id)), ids, vocabulary, joined: tokenizer.decode(ids, true) };
}
