/**
 * SentencePiece's byte-pair encoding with byte fallback, over the exact bytes of each token: decoding joins bytes, and what
 * people type can never become a special token.
 */

import { makeNormalizer } from './normalizer.js';

const SPACE = '\u2581'; // SentencePiece writes a space as this character

/**
 * What `web/export.py` writes: the pieces by id; the ids of special tokens; those of single bytes, by their value; whether
 * every text is a sentence, which begins with a space; and what is replaced before a text is cut.
 * @typedef {{pieces: string[], special: number[], bytes: number[], sentences: boolean, rules: Record<string, string>}} Vocabulary
 */

const encoder = new TextEncoder();

/** @param {number[]} bytes those that form no character become U+FFFD */
const textOf = (bytes) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array(bytes));

export class Tokenizer {
  /** @param {Vocabulary} vocabulary */
  constructor(vocabulary) {
    const { pieces, special, bytes, sentences, rules } = vocabulary;
    const hidden = new Set([...special, ...bytes]);
    this.pieces = pieces;
    this.special = new Set(special);
    this.byteIds = bytes;
    this.sentences = sentences;
    this.normalize = makeNormalizer(rules);
    /** The pieces that text is cut into; of two that could be merged, the one with the lower id is. */
    this.ids = new Map(pieces.flatMap((piece, id) => (hidden.has(id) ? [] : [[piece, id]])));
    /** @type {Map<string, number[]>} the ids of words that were seen before */
    this.words = new Map();
    this.bytes = pieces.map((piece, id) => (this.special.has(id) ? [] : [...encoder.encode(piece.replaceAll(SPACE, ' '))]));
    bytes.forEach((id, value) => { this.bytes[id] = [value]; });
  }

  /** The id of a special token such as `<user>`. @param {string} name */
  specialToken(name) {
    const id = this.pieces.indexOf(name);
    if (!this.special.has(id)) throw new Error(`This vocabulary has no ${name} token, so it doesn't fit this model.`);
    return id;
  }

  /** @param {string} text @returns {number[]} never a special token */
  encode(text) {
    if (!text.isWellFormed()) throw new Error('The text contains half a character: delete it and type it again.');
    if (this.sentences) return this.#encodeSpaced(this.normalize(text).replaceAll(' ', SPACE));
    const spaceItself = this.#fallBack(SPACE); // a typed U+2581 is no space
    return text.split(SPACE).flatMap((part, number) => [...(number ? spaceItself : []), ...this.#encodeSpaced(part.replaceAll(' ', SPACE))]);
  }

  /** A space can only begin a piece, so each word is cut on its own. @param {string} text */
  #encodeSpaced(text) {
    return (text.match(new RegExp(`${SPACE}?[^${SPACE}]+|${SPACE}`, 'gu')) ?? []).flatMap((word) => {
      const known = this.words.get(word) ?? this.#encodeWord(word);
      if (word.length < 50) this.words.set(word, known);
      return known;
    });
  }

  /** Merge two neighbours at a time, always those whose piece has the lowest id, leftmost first. @param {string} word */
  #encodeWord(word) {
    const parts = [...word];
    const merged = (/** @type {number} */ i) => (i + 1 < parts.length ? this.ids.get(parts[i] + parts[i + 1]) : null) ?? Infinity;
    const ids = parts.map((_, i) => merged(i)); // of each part joined with the next; kept, since a word may have 20,000 characters
    for (;;) {
      let place = 0;
      for (let i = 1; i < ids.length; i++) if (ids[i] < ids[place]) place = i;
      if (ids[place] === Infinity) return parts.flatMap((part) => this.ids.get(part) ?? this.#fallBack(part));
      parts.splice(place, 2, parts[place] + parts[place + 1]);
      ids.splice(place, 1);
      for (const changed of [place - 1, place]) if (changed >= 0) ids[changed] = merged(changed);
    }
  }

  /** A character that is no piece, as single bytes. @param {string} character */
  #fallBack(character) {
    return [...encoder.encode(character)].map((byte) => this.byteIds[byte]);
  }

  /**
   * @param {number[]} ids special tokens add nothing
   * @param {boolean} [begins] whether they begin a sentence, whose first space is not shown
   */
  decode(ids, begins = false) {
    const bytes = ids.flatMap((id) => this.bytes[id]);
    return textOf(begins && this.sentences && bytes[0] === 32 ? bytes.slice(1) : bytes);
  }

  /**
   * What each token adds to the text: "" for a part of a character that is not complete.
   * @param {number[]} ids
   * @param {boolean} begins whether they begin a sentence, whose first space is not shown
   */
  texts(ids, begins) {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true }), last = ids.length - 1;
    return ids.map((id, place) => {
      const text = decoder.decode(new Uint8Array(this.bytes[id]), { stream: place < last });
      return begins && this.sentences && !place ? text.replace(/^ /, '') : text;
    });
  }

  /**
   * A token on its own, for display: its text, `<end>` for a special token, `<0xF0>` for a byte that is no character.
   * @param {number} id
   */
  label(id) {
    if (this.special.has(id)) return this.pieces[id];
    const [first, ...others] = this.bytes[id];
    const printable = others.length > 0 || first === 10 || (first >= 32 && first < 127);
    return printable ? textOf(this.bytes[id]) : `<0x${first.toString(16).toUpperCase().padStart(2, '0')}>`;
  }
}
