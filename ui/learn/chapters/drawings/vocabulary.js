/**
 * A vocabulary of your own: the words of the sentences after some merges, and a new text in three vocabularies.
 *
 * @typedef {{words: [string[], number][], different: number,
 *   cut: {word: string, known: boolean, characters: [string, boolean][], pieces: [string, boolean][]}[]}} LearnedVocabulary
 */

/** @import { SlotView } from '../../text/slot_values.js' */

import { make } from '../../../kit/js/dom.js';
import { pieceBox, symbolNodes, tokenCount } from '../../drawings/pieces.js';

/** Every different word once. @returns {SlotView} */
export function spelled() {
  const node = make('div', { class: 'at-pieces' });

  function draw(/** @type {LearnedVocabulary} */ { words, different }) {
    const more = different - words.length;
    node.replaceChildren(...words.map(([pieces, times]) => make('span', { class: 'at-spelled' },
      ...pieces.map((symbol, index) => pieceBox(symbolNodes(symbol), { index })),
      times > 1 ? make('span', { class: 'at-quiet', text: ` × ${times}` }) : '')),
    more > 0 ? make('span', { class: 'at-quiet', text: `and ${more} more` }) : '');
  }

  return { node, draw };
}

/** What each of the vocabularies makes of the new text. @returns {SlotView} */
export function cut() {
  const node = make('dl', { class: 'at-segmentations' });

  function draw(/** @type {LearnedVocabulary} */ { cut: words }) {
    /** @type {[string, [string, boolean][][]][]} */
    const rows = [
      ['Words', words.map(({ word, known }) => [[word, known]])],
      ['Characters', words.map(({ characters }) => characters)],
      ['Byte pairs', words.map(({ pieces }) => pieces)],
    ];
    node.replaceChildren(...rows.flatMap(([name, all]) => {
      const unknown = all.flat().filter(([, known]) => !known).length;
      const count = `${tokenCount(all.flat().length)}${unknown ? `, ${unknown} unknown` : ''}`;
      return [make('dt', {}, name, make('span', { class: 'at-quiet', text: count })),
        make('dd', { class: 'at-pieces' }, ...all.map((pieces) => make('span', { class: 'at-spelled' },
          ...pieces.map(([piece, known], index) => pieceBox(symbolNodes(piece), {
            index, unknown: !known, title: known ? undefined : 'not in this vocabulary',
          })))))];
    }));
  }

  return { node, draw };
}
