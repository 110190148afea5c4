/**
 * A vocabulary of your own: byte-pair encoding, merge after merge, on sentences that somebody typed.
 *
 * @typedef {{text: string, new: string, merges: number, learned: [string, string, string, number][],
 *   pairs: [string, string, number][], pair_count: number, words: [string[], number][], word_count: number,
 *   different: number, characters: number, letters: number, symbols: number, tokens: number,
 *   cut: {word: string, known: boolean, characters: [string, boolean][], pieces: [string, boolean][]}[]}} LearnedVocabulary
 */

import { headCell, make, makeTable } from '../../kit/js/dom.js';
import { counted, visible } from '../../kit/js/text.js';
import { plainButton, labelled, lessonPart, sideBySide, numberSlider, paragraph } from '../lesson.js';
import { debounced, chipRow, extentBar, pieceBox, tokenCount } from '../pieces.js';

const EXAMPLES = [
  ['She sells', 'She sells seashells by the seashore. The shells she sells are surely seashells. So if she sells '
    + 'shells on the seashore, I am sure she sells seashore shells.', 'She sells a shell on the shore.'],
  ['French', 'Les chats dorment. Les chiens dormaient. Nous dormons, vous dormez, ils dormiront. Le chat et le chien '
    + 'mangent; nous mangeons, vous mangez.', 'Les oiseaux dorment et mangent.'],
];
const END_MARK = '</w>';

/** @type {import('../lesson.js').Build} */
export function build(root, ask, first) {
  const sentences = make('textarea', {
    rows: 4, 'aria-label': 'Sentences to learn from', spellcheck: 'false',
  });
  const fresh = make('input', {
    type: 'text', class: 'at-new-text', 'aria-label': 'New text to split', spellcheck: 'false',
  });
  let merges = first.merges;
  const now = () => ask({ text: sentences.value, merges, new: fresh.value });
  const slider = numberSlider('Merges', { min: 0, max: 200, value: merges }, (value) => {
    merges = value;
    now();
  });
  const put = (text, count, other) => {
    [sentences.value, fresh.value, merges] = [text, other, count];
    slider.put(count);
  };
  const take = (text, count, other) => () => {
    put(text, count, other);
    now();
  };
  const [steps, pairs, words, sizes, cut] = Array.from({ length: 5 }, () => make('div'));
  for (const field of [sentences, fresh]) field.addEventListener('input', debounced(now));

  root.append(
    paragraph('Byte-pair encoding (Sennrich, Haddow and Birch, 2016): spell every word in characters, with a '
      + 'mark for its end. Then merge the most frequent pair of neighbours into one symbol, again and again. If '
      + 'several pairs are equally frequent, the one seen first wins; a pair that occurs only once is not '
      + 'merged. In the code: `learn` in lesson/vocabulary.py.'),
    sentences,
    sideBySide(chipRow('Examples', [['The paper’s example', first.text, first.new], ...EXAMPLES].map(
      ([name, text, other]) =>
      [name, take(text, first.merges, other)])), plainButton('Reset',
      take(first.text, first.merges, first.new))),
    sideBySide(slider.node),
    make('div', { class: 'at-two' }, steps, pairs),
    lessonPart('The words after these merges', words),
    lessonPart('A new text', paragraph('The same merges, in the same order, split words that were never seen. A '
      + 'vocabulary of words has no id for them. One of characters or byte pairs lacks only characters that the '
      + 'sentences don’t contain.'),
    labelled('New text', fresh), cut),
    lessonPart('Three vocabularies for the same sentences', sizes));
  put(first.text, merges, first.new);
  ask({});

  return (/** @type {LearnedVocabulary} */ result) => {
    const most = result.learned.length;
    slider.reach(0, Math.max(1, most));
    merges = result.merges;
    slider.put(merges);
    steps.replaceChildren(make('h3', { text: `Merges: ${merges} of ${most}` }), mergesTable(result));
    pairs.replaceChildren(make('h3', { text: 'Candidates for the next merge' }), pairsTable(result));
    words.replaceChildren(wordsNow(result));
    cut.replaceChildren(cutTexts(result));
    sizes.replaceChildren(sizesTable(result));
  };
}

/** A symbol with the end mark set apart. @param {string} symbol @returns {Node[]} */
function symbolNodes(symbol) {
  const plain = symbol.endsWith(END_MARK) ? symbol.slice(0, -END_MARK.length) : symbol;
  if (plain === symbol) return visible(symbol);
  return [...(plain ? visible(plain) : []), make('span', { class: 'at-mark', text: END_MARK })];
}

/** @param {string[]} head @param {(Node | string)[][]} rows @param {(row: number) => string | null} kind */
const smallTable = (name, head, rows, kind = () => null) =>
  make('div', { class: 'at-small-scroll', tabindex: 0, role: 'region', 'aria-label': name },
    makeTable({ class: 'at-small' }, head.map((text) => headCell('col', text)),
      rows.map((row, index) => make('tr', { class: kind(index) }, ...row.map((cell) => make('td', {}, cell))))));

/** @param {...string} symbols */
const symbolChips = (...symbols) => make('span', { class: 'at-pieces-inline' },
  ...symbols.map((symbol, index) => pieceBox(symbolNodes(symbol), { index })));

/** @param {LearnedVocabulary} result the merges, those that are made first */
function mergesTable({ learned, merges }) {
  if (!learned.length) return make('p', { class: 'at-quiet', text: 'No pair of neighbours occurs twice: enter a '
    + 'longer text.' });
  const rows = learned.map(([left, right, whole, count], index) =>
    [String(index + 1), symbolChips(left, right), symbolChips(whole), counted.format(count)]);
  const kind = (index) => (index < merges ? null : 'at-later');
  const table = smallTable('Merges', ['', 'pair', 'becomes', 'times'], rows, kind);
  requestAnimationFrame(() => {
    const last = table.querySelectorAll('tr')[Math.max(1, merges)]; // behind the head
    table.scrollTop = last.offsetTop + last.offsetHeight - table.clientHeight + 40;
  });
  return table;
}

/** @param {LearnedVocabulary} result */
function pairsTable({ pairs, pair_count: all }) {
  if (!pairs.length) return make('p', { class: 'at-quiet', text: 'Every word is one symbol.' });
  const rows = pairs.map(([left, right, count], index) => [symbolChips(left, right), counted.format(count),
    extentBar(count / pairs[0][2]), index || pairs[0][2] < 2 ? '' : 'next']);
  const more = all - pairs.length;
  return make('div', {}, smallTable('Pairs', ['pair', 'times', '', ''], rows),
    more > 0
      ? make('p', { class: 'at-quiet', text: `and ${counted.format(more)} ${more === 1 ? 'other' : 'others'}` }) : '');
}

/** @param {LearnedVocabulary} result every different word once */
function wordsNow({ words, different, tokens, word_count: all }) {
  const shown = words.map(([pieces, times]) => make('span', { class: 'at-spelled' },
    ...pieces.map((symbol, index) => pieceBox(symbolNodes(symbol), { index })),
    times > 1 ? make('span', { class: 'at-quiet', text: ` × ${times}` }) : ''));
  const more = different - words.length;
  return make('div', {},
    make('p', { class: 'at-quiet', text: `${counted.format(all)} ${all === 1 ? 'word' : 'words'} in ${tokenCount(tokens)}.` }),
    make('div', { class: 'at-pieces' }, ...shown,
      more > 0 ? make('span', { class: 'at-quiet', text: `and ${more} more` }) : ''));
}

/** @param {LearnedVocabulary} result what each of the vocabularies makes of the new text */
function cutTexts({ cut }) {
  /** @type {[string, [string, boolean][][]][]} */
  const rows = [
    ['Words', cut.map(({ word, known }) => [[word, known]])],
    ['Characters', cut.map(({ characters }) => characters)],
    ['Byte pairs', cut.map(({ pieces }) => pieces)],
  ];
  return make('dl', { class: 'at-segmentations' }, ...rows.flatMap(([name, words]) => {
    const unknown = words.flat().filter(([, known]) => !known).length;
    return [make('dt', {}, name, make('span', {
      class: 'at-quiet', text: `${tokenCount(words.flat().length)}${unknown ? `, ${unknown} unknown` : ''}`,
    })), make('dd', { class: 'at-pieces' }, ...words.map((pieces) => make('span', { class: 'at-spelled' },
      ...pieces.map(([piece, known], index) => pieceBox(symbolNodes(piece), {
        index, unknown: !known, title: known ? undefined : 'not in this vocabulary',
      })))))];
  }));
}

/** @param {LearnedVocabulary} result */
function sizesTable({ different, characters, letters, symbols, word_count: all, tokens }) {
  return smallTable('Vocabularies', ['', 'vocabulary', 'tokens in the sentences'], [
    ['Words', counted.format(different), counted.format(all)],
    ['Characters', counted.format(characters), counted.format(letters)],
    ['Byte pairs', `${counted.format(symbols)}: the characters, the end mark and the merges`, counted.format(tokens)],
  ]);
}
