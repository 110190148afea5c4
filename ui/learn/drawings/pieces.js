/**
 * Texts in pieces: every piece a box, coloured in turns; and bars.
 */

import { make } from '../../kit/js/dom.js';
import { counted, tokenChip, visible } from '../../kit/js/text.js';

const END_MARK = '</w>'; // of a word, in a vocabulary that is learned
export const PIECES = 'at-row at-wrap at-top at-gap-xs at-scroll at-pieces'; // the class of what holds pieces

/**
 * @param {Node[]} content
 * @param {{index: number, note?: string | number, title?: string, unknown?: boolean}} about `index` decides the colour, the
 *   note stands under it
 */
export const pieceBox = (content, { index, note, title, unknown }) => make('span', {
  class: 'at-piece', 'data-colour': index % 4, 'data-unknown': unknown || null, title,
}, make('span', { class: 'at-chip', dir: 'auto' }, ...content), note === undefined ? '' : make('small', { text: note }));

/** A symbol of a vocabulary, with the end mark set apart. @param {string} symbol @returns {Node[]} */
export function symbolNodes(symbol) {
  const plain = symbol.endsWith(END_MARK) ? symbol.slice(0, -END_MARK.length) : symbol;
  if (plain === symbol) return visible(symbol);
  return [...(plain ? visible(plain) : []), make('span', { class: 'at-mark', text: END_MARK })];
}

/** @param {string[]} symbols */
export const symbolChips = (symbols) => make('span', { class: 'at-spelled' },
  ...symbols.map((symbol, index) => pieceBox(symbolNodes(symbol), { index })));

/** A token as text; three dots mark one that continues a word. @param {string} text */
export const tokenName = (text) => (text.startsWith(' ')
  ? tokenChip(text, true)
  : make('span', { class: 'at-chip', dir: 'auto' }, make('span', { class: 'at-mark', text: '…' }), ...visible(text)));

/** @param {number} count */
export const tokenCount = (count) => `${counted.format(count)} ${count === 1 ? 'token' : 'tokens'}`;

/** A bar whose length is a share of its track. @param {number} share from 0 to 1 @param {string} [colour] see plot.js */
export function extentBar(share, colour) {
  const part = make('i', { class: colour });
  part.style.width = `${(100 * Math.max(0, Math.min(1, share))).toFixed(1)}%`;
  return make('span', { class: 'at-extent', 'aria-hidden': 'true' }, part);
}
