/**
 * A vocabulary of your own: byte-pair encoding, merge after merge, on sentences that somebody typed.
 *
 * @typedef {{text: string, new: string, merges: number, learned: [string, string, string, number][],
 *   pairs: [string, string, number][], pair_count: number, words: [string[], number][], word_count: number,
 *   different: number, characters: number, letters: number, symbols: number, tokens: number,
 *   cut: {word: string, known: boolean, characters: [string, boolean][], pieces: [string, boolean][]}[]}} LearnedVocabulary
 */

const VOCABULARY_FIRST = lessonFirst.vocabulary;
const VOCABULARY_EXAMPLES = [
  ['The paper’s example', VOCABULARY_FIRST.text, VOCABULARY_FIRST.new],
  ['She sells', 'She sells seashells by the seashore. The shells she sells are surely seashells. So if she sells '
    + 'shells on the seashore, I am sure she sells seashore shells.', 'She sells a shell on the shore.'],
  ['French', 'Les chats dorment. Les chiens dormaient. Nous dormons, vous dormez, ils dormiront. Le chat et le chien '
    + 'mangent; nous mangeons, vous mangez.', 'Les oiseaux dorment et mangent.'],
];
const END_MARK = '</w>';

chapters.vocabulary = {
  title: 'A vocabulary of your own',
  build(root, ask) {
    const sentences = make('textarea', {
      rows: 4, 'aria-label': 'Sentences to learn from', spellcheck: 'false',
    });
    const fresh = make('input', {
      type: 'text', class: 'at-new-text', 'aria-label': 'A new text to cut', spellcheck: 'false',
    });
    let merges = VOCABULARY_FIRST.merges;
    const now = () => ask({ text: sentences.value, merges, new: fresh.value });
    const slider = lessonSlider('Merges', { min: 0, max: 200, value: merges }, (value) => {
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
    for (const field of [sentences, fresh]) field.addEventListener('input', afterTyping(now));

    root.append(
      lessonText('Byte-pair encoding (Sennrich, Haddow and Birch, 2016): spell every word in characters, with a mark '
        + 'for its end, then merge the pair of neighbours that is most frequent into one symbol, again and again. Of '
        + 'equally frequent pairs the one seen first wins; a pair that occurs once is no rule. In the code: `learn` in '
        + 'lesson/vocabulary.py.'),
      sentences,
      lessonRow(chipRow('Examples', VOCABULARY_EXAMPLES.map(([name, text, other]) =>
        [name, take(text, VOCABULARY_FIRST.merges, other)])), lessonButton('Start again',
        take(VOCABULARY_FIRST.text, VOCABULARY_FIRST.merges, VOCABULARY_FIRST.new))),
      lessonRow(slider.node),
      make('div', { class: 'at-two' }, steps, pairs),
      lessonPart('The words now', words),
      lessonPart('A new text', lessonText('The merges, made in the same order, cut words that were never seen. A '
        + 'vocabulary of words has no id for those; one of characters, or of byte pairs, lacks only characters that '
        + 'the sentences lack.'),
      lessonField('Cut', fresh), cut),
      lessonPart('Three vocabularies of the same sentences', sizes));
    put(VOCABULARY_FIRST.text, merges, VOCABULARY_FIRST.new);
    ask({});

    return (/** @type {LearnedVocabulary} */ result) => {
      const most = result.learned.length;
      slider.reach(0, Math.max(1, most));
      merges = result.merges;
      slider.put(merges);
      steps.replaceChildren(make('h3', { text: `Merges: ${merges} of ${most}` }), vocabularySteps(result));
      pairs.replaceChildren(make('h3', { text: 'Pairs now' }), vocabularyPairs(result));
      words.replaceChildren(vocabularyWords(result));
      cut.replaceChildren(vocabularyCut(result));
      sizes.replaceChildren(vocabularySizes(result));
    };
  },
};

/** A symbol with the end mark set apart. @param {string} symbol @returns {Node[]} */
function symbolNodes(symbol) {
  const plain = symbol.endsWith(END_MARK) ? symbol.slice(0, -END_MARK.length) : symbol;
  if (plain === symbol) return visible(symbol);
  return [...(plain ? visible(plain) : []), make('span', { class: 'at-mark', text: END_MARK })];
}

/** @param {string[]} head @param {(Node | string)[][]} rows @param {(row: number) => string | null} kind */
const vocabularyTable = (name, head, rows, kind = () => null) =>
  make('div', { class: 'at-small-scroll', tabindex: 0, role: 'region', 'aria-label': name },
    make('table', { class: 'at-small' },
      make('thead', {}, make('tr', {}, ...head.map((text) => make('th', { scope: 'col', text })))),
      make('tbody', {}, ...rows.map((row, place) =>
        make('tr', { class: kind(place) }, ...row.map((cell) => make('td', {}, cell)))))));

/** @param {...string} symbols */
const symbolChips = (...symbols) => make('span', { class: 'at-pieces-inline' },
  ...symbols.map((symbol, place) => pieceBox(symbolNodes(symbol), { place })));

/** @param {LearnedVocabulary} result the merges, those that are made first */
function vocabularySteps({ learned, merges }) {
  if (!learned.length) return make('p', { class: 'at-quiet', text: 'No pair of neighbours occurs twice: write more.' });
  const rows = learned.map(([left, right, whole, count], place) =>
    [String(place + 1), symbolChips(left, right), symbolChips(whole), counted.format(count)]);
  const kind = (place) => (place < merges ? null : 'at-later');
  const table = vocabularyTable('Merges', ['', 'pair', 'becomes', 'times'], rows, kind);
  requestAnimationFrame(() => {
    const last = table.querySelectorAll('tbody tr')[Math.max(0, merges - 1)];
    table.scrollTop = last.offsetTop + last.offsetHeight - table.clientHeight + 40;
  });
  return table;
}

/** @param {LearnedVocabulary} result */
function vocabularyPairs({ pairs, pair_count: all }) {
  if (!pairs.length) return make('p', { class: 'at-quiet', text: 'Every word is one symbol.' });
  const rows = pairs.map(([left, right, count], place) => [symbolChips(left, right), counted.format(count),
    extentBar(count / pairs[0][2]), place || pairs[0][2] < 2 ? '' : 'next']);
  const more = all - pairs.length;
  return make('div', {}, vocabularyTable('Pairs', ['pair', 'times', '', ''], rows),
    more > 0
      ? make('p', { class: 'at-quiet', text: `and ${counted.format(more)} ${more === 1 ? 'other' : 'others'}` }) : '');
}

/** @param {LearnedVocabulary} result every different word once */
function vocabularyWords({ words, different, tokens, word_count: all }) {
  const shown = words.map(([pieces, times]) => make('span', { class: 'at-spelled' },
    ...pieces.map((symbol, place) => pieceBox(symbolNodes(symbol), { place })),
    times > 1 ? make('span', { class: 'at-quiet', text: ` × ${times}` }) : ''));
  const more = different - words.length;
  return make('div', {},
    make('p', { class: 'at-quiet', text: `${counted.format(all)} ${all === 1 ? 'word' : 'words'} in ${tokenCount(tokens)}.` }),
    make('div', { class: 'at-pieces' }, ...shown,
      more > 0 ? make('span', { class: 'at-quiet', text: `and ${more} more` }) : ''));
}

/** @param {LearnedVocabulary} result what each of the vocabularies makes of the new text */
function vocabularyCut({ cut }) {
  const rows = [
    ['Words', cut.map(({ word, known }) => [[word, known]])],
    ['Characters', cut.map(({ characters }) => characters)],
    ['Byte pairs', cut.map(({ pieces }) => pieces)],
  ];
  return make('dl', { class: 'at-cut-ways' }, ...rows.flatMap(([name, words]) => {
    const unknown = words.flat().filter(([, known]) => !known).length;
    return [make('dt', {}, name, make('span', {
      class: 'at-quiet', text: `${tokenCount(words.flat().length)}${unknown ? `, ${unknown} unknown` : ''}`,
    })), make('dd', { class: 'at-pieces' }, ...words.map((pieces) => make('span', { class: 'at-spelled' },
      ...pieces.map(([piece, known], place) => pieceBox(symbolNodes(piece), {
        place, unknown: !known, title: known ? undefined : 'not in this vocabulary',
      })))))];
  }));
}

/** @param {LearnedVocabulary} result */
function vocabularySizes({ different, characters, letters, symbols, word_count: all, tokens }) {
  return vocabularyTable('Vocabularies', ['', 'different', 'the sentences in tokens'], [
    ['Words', counted.format(different), counted.format(all)],
    ['Characters', counted.format(characters), counted.format(letters)],
    ['Byte pairs', `${counted.format(symbols)}: the characters, the end mark and the merges`, counted.format(tokens)],
  ]);
}
