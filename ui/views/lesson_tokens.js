/**
 * Tokens, side by side: one text as rules and as models cut it.
 *
 * @typedef {{name: string, place: string, rule: boolean, said: string, pieces: [string, number][], count: number,
 *   each: number | null, vocabulary: number, lost: string[], joined: string | null, shortened: boolean}} TokenCut
 *   `place`: of a model the name that leads to it, such as a folder’s path
 */

const TOKENS_TEXT = lessonFirst.tokens.text;
const TOKENS_EXAMPLES = [
  ['A fox', TOKENS_TEXT],
  ['Rare words', 'Antidisestablishmentarianism in Llanfairpwllgwyngyll: supercalifragilistic, isn’t it?'],
  ['French', 'Les élèves naïfs ont mangé des œufs à Noël, n’est-ce pas ?'],
  ['Many scripts', 'Hello, Привет, नमस्ते, こんにちは, مرحبا 👩‍👧'],
  ['Numbers and code', 'for i in range(1000):\n    total += 3.14159 * i  # 2024-12-31'],
];
const TOKENS_RULES = {
  words: ['Words', 'Cut at white space and punctuation, numbered as they first appear. Short texts; but every new word '
    + 'needs a new number, and one never seen has none.'],
  characters: ['Characters', 'Unicode’s code points, numbered by Unicode. Nothing is unknown; but texts grow long, and '
    + 'a letter means little.'],
  bytes: ['Bytes', 'UTF-8: one byte for an English letter, up to four for others. 256 numbers say every text there is, '
    + 'at the greatest length.'],
};

chapters.tokens = {
  title: 'Tokens, side by side',
  build(root, ask) {
    const box = make('textarea', { rows: 3, 'aria-label': 'Text to cut', spellcheck: 'false' });
    box.value = TOKENS_TEXT;
    const now = () => ask({ text: box.value });
    const put = (text) => () => {
      box.value = text;
      now();
    };
    const cuts = make('div', { class: 'at-cuts' });
    box.addEventListener('input', afterTyping(now));
    root.append(
      lessonText('A model reads numbers. So a text is cut into pieces, and each piece is looked up in a vocabulary, '
        + 'where it has a number, its id. What a piece is, is a choice: the longer the pieces, the shorter the text, '
        + 'and the larger the vocabulary.'),
      box, lessonRow(chipRow('Example texts', TOKENS_EXAMPLES.map(([name, text]) =>
        [name, put(text)])), lessonButton('Start again', put(TOKENS_TEXT))),
      make('p', { class: 'at-quiet', text: 'A bar is as long as the text in tokens; the way that makes most fills it.' }),
      cuts,
      lessonText('A subword vocabulary is the middle way: frequent words are one piece, rare ones several, and single '
        + 'bytes say what nothing else says. attend-chat and attend-translate have learned theirs with SentencePiece '
        + 'from their training texts (`training/vocabulary.py`); the next chapter builds one. Models that somebody '
        + 'uses on this page bring their tokenizers along, and so do encoders that were looked into; a folder for '
        + 'others, such as GPT-2’s and BERT’s, is named in the README.'));
    ask({});

    return (/** @type {{characters: number, cuts: TokenCut[]}} */ result) => {
      const most = Math.max(...result.cuts.map((cut) => cut.count ?? 0));
      cuts.replaceChildren(...result.cuts.map((cut) => tokenCut(cut, most)));
    };
  },
};

/** @param {TokenCut} cut @param {number} most tokens of any cut */
function tokenCut(cut, most) {
  const [name, said] = cut.rule ? TOKENS_RULES[cut.name] : [cut.name, ''];
  const head = make('h3', { text: name, title: cut.place || null });
  if (cut.said) {
    const why = make('p', { class: 'at-quiet', text: cut.said });
    return make('section', { class: 'at-cut', 'aria-label': name }, head, why);
  }
  const facts = [
    tokenCount(cut.count),
    cut.each === null ? '' : `${cut.each.toFixed(cut.each < 10 ? 2 : 0)} characters each`,
    `${counted.format(cut.vocabulary)} ${cut.vocabulary === 1 ? 'id' : 'ids'}${cut.name === 'words' && cut.rule ? ' so far' : ''}`,
  ].filter(Boolean).join(' · ');
  const pieces = cut.pieces.map(([text, id], place) => pieceBox(visible(text), {
    place, note: id, title: `token ${place + 1}: ${visibleText(text)}, id ${id}`,
  }));
  const more = cut.count - cut.pieces.length;
  return make('section', { class: 'at-cut', 'aria-label': name },
    make('div', { class: 'at-cut-head' },
      head, make('span', { class: 'at-quiet', text: facts }), extentBar(cut.count / most)),
    said ? make('p', { class: 'at-quiet', text: said }) : '',
    make('div', { class: 'at-pieces', tabindex: 0, role: 'region', 'aria-label': `Tokens of ${name}` }, ...pieces,
      more > 0 ? make('span', { class: 'at-quiet', text: `and ${counted.format(more)} more` }) : ''),
    tokensBack(cut));
}

/** Whether the ids say the same text again. @param {TokenCut} cut */
function tokensBack(cut) {
  if (!cut.lost.length) {
    return make('p', { class: 'at-quiet', text: cut.name === 'words' && cut.rule
      ? 'Here its ids say exactly the text again, since nothing but one space stands between its pieces.'
      : 'Its ids say exactly the text again.' });
  }
  const what = new Intl.ListFormat('en-GB').format(cut.lost);
  return make('p', { class: 'at-quiet' }, `Lost: ${what}. Its ids say `,
    make('q', { dir: 'auto' }, ...visible(cut.joined)), cut.shortened ? ' …' : '.');
}
