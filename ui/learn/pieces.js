/**
 * Texts in pieces, for the chapters on tokens, vocabularies and vectors: every piece a box, coloured in turns.
 */

import { make } from '../kit/js/dom.js';
import { counted, tokenChip, visible } from '../kit/js/text.js';

/**
 * @param {Node[]} shown its content
 * @param {{index: number, note?: string | number, title?: string, unknown?: boolean}} about `index` decides the colour, the
 *   note stands under it
 */
export const pieceBox = (shown, { index, note, title, unknown }) => make('span', {
  class: 'at-piece', 'data-colour': index % 4, 'data-unknown': unknown || null, title,
}, make('span', { class: 'at-chip', dir: 'auto' }, ...shown), note === undefined ? '' : make('small', { text: note }));

/** A token as text; three dots mark one that continues a word. @param {string} text */
export const tokenName = (text) => (text.startsWith(' ')
  ? tokenChip(text, true)
  : make('span', { class: 'at-chip', dir: 'auto' }, make('span', { class: 'at-mark', text: '…' }), ...visible(text)));

/** @param {number} count */
export const tokenCount = (count) => `${counted.format(count)} ${count === 1 ? 'token' : 'tokens'}`;

/** A bar whose length is a share of its track. @param {number} share from 0 to 1 */
export function extentBar(share) {
  const part = make('i');
  part.style.width = `${(100 * Math.max(0, Math.min(1, share))).toFixed(1)}%`;
  return make('span', { class: 'at-extent', 'aria-hidden': 'true' }, part);
}

/** Ask a moment after the last key, so that a word is not looked up letter by letter. @param {() => void} ask */
export function debounced(ask) {
  let waiting = 0;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, 250);
  };
}

/**
 * Buttons that fill a field.
 * @param {string} name what they are, for screen readers
 * @param {[string, () => void][]} choices
 */
export const chipRow = (name, choices) => make('div', { class: 'at-chips', role: 'group', 'aria-label': name },
  ...choices.map(([text, onclick]) => make('button', { type: 'button', class: 'at-plain', text, onclick })));
