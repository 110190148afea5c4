/**
 * A vocabulary of your own: the words of the sentences after some merges, and a new text in three vocabularies.
 *
 * @typedef {{words: [string[], number][], different: number,
 *   cut: {word: string, known: boolean, characters: [string, boolean][], pieces: [string, boolean][]}[]}} LearnedVocabulary
 */

/** @import { SlotView } from '../../text/slot_values.js' */

import { make } from '../../../kit/js/dom.js';
import { pieceBox, PIECES, symbolNodes, tokenCount } from '../../drawings/pieces.js';
import { redrawn } from '../../text/slot_values.js';

/** Every different word once. @returns {SlotView} */
export const spelled = () => redrawn(make('div', { class: PIECES }), (/** @type {LearnedVocabulary} */ { words, different }) => {
  const more = different - words.length;
  return [...words.map(([pieces, times]) => make('span', { class: 'at-spelled' },
    ...pieces.map((symbol, index) => pieceBox(symbolNodes(symbol), { index })),
    times > 1 ? make('span', { class: 'at-quiet', text: ` × ${times}` }) : '')),
  more > 0 ? make('span', { class: 'at-quiet', text: `and ${more} more` }) : ''];
});

/** What each of the vocabularies makes of the new text. @returns {SlotView} */
export const cut = () => redrawn(make('dl', { class: 'at-segmentations' }), (/** @type {LearnedVocabulary} */ { cut: words }) => {
  /** @type {[string, [string, boolean][][]][]} */
  const rows = [
    ['Words', words.map(({ word, known }) => [[word, known]])],
    ['Characters', words.map(({ characters }) => characters)],
    ['Byte pairs', words.map(({ pieces }) => pieces)],
  ];
  return rows.flatMap(([name, all]) => {
    const unknown = all.flat().filter(([, known]) => !known).length;
    const count = `${tokenCount(all.flat().length)}${unknown ? `, ${unknown} unknown` : ''}`;
    return [make('dt', {}, name, make('span', { class: 'at-quiet at-sm', text: count })),
      make('dd', { class: PIECES }, ...all.map((pieces) => make('span', { class: 'at-spelled' },
        ...pieces.map(([piece, known], index) => pieceBox(symbolNodes(piece), {
          index, unknown: !known, title: known ? undefined : 'not in this vocabulary',
        })))))];
  });
});
