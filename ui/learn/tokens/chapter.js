/**
 * Tokens, side by side: one text as rules and as models cut it.
 *
 * @typedef {{name: string, location: string, rule: boolean, error: string, pieces: [string, number][], count: number,
 *   each: number | null, vocabulary: number, lost: string[], joined: string | null, shortened: boolean}} TokenCut
 *   `location`: of a model, the name that loads it, such as a folder’s path
 */

import { explained } from '../../glossary/marking.js';
import { make } from '../../kit/js/dom.js';
import { counted, visible, visibleText } from '../../kit/js/text.js';
import { plainButton, sideBySide, paragraph } from '../lesson.js';
import { debounced, chipRow, extentBar, pieceBox, tokenCount } from '../pieces.js';

const EXAMPLES = [
  ['Rare words', 'Antidisestablishmentarianism in Llanfairpwllgwyngyll: supercalifragilistic, isn’t it?'],
  ['French', 'Les élèves naïfs ont mangé des œufs à Noël, n’est-ce pas ?'],
  ['Many scripts', 'Hello, Привет, नमस्ते, こんにちは, مرحبا 👩‍👧'],
  ['Numbers and code', 'for i in range(1000):\n    total += 3.14159 * i  # 2024-12-31'],
];
const RULES = {
  words: ['Words', 'Split at spaces and punctuation, and numbered as they first appear. Few tokens, but every new '
    + 'word needs its own id, and unknown words have none.'],
  characters: ['Characters', 'Unicode code points, with Unicode’s own numbers. Nothing is unknown, but texts get '
    + 'long, and a single letter means little.'],
  bytes: ['Bytes', 'UTF-8: one byte for an English letter, up to four for other characters. 256 ids can spell any '
    + 'text, but with the most tokens.'],
};

/** @type {import('../lesson.js').Build} */
export function build(root, ask, { text: example }) {
  const box = make('textarea', { rows: 3, 'aria-label': 'Text to split', spellcheck: 'false' });
  box.value = example;
  const now = () => ask({ text: box.value });
  const put = (text) => () => {
    box.value = text;
    now();
  };
  const cuts = make('div', { class: 'at-cuts' });
  box.addEventListener('input', debounced(now));
  root.append(
    paragraph('A model reads numbers. So a text is split into pieces, called tokens, and each one is looked up '
      + 'in a vocabulary, where it has a number: its id. How to split text is a choice: the longer the pieces, '
      + 'the fewer tokens a text has, but the larger the vocabulary.'),
    box, sideBySide(chipRow('Example texts', [['A fox', example], ...EXAMPLES].map(([name, text]) =>
      [name, put(text)])), plainButton('Reset', put(example))),
    make('p', { class: 'at-quiet', text: 'A longer bar means more tokens.' }),
    cuts,
    paragraph('A subword vocabulary is the middle ground: frequent words are one token, rare words several. '
      + 'attend-chat and attend-translate also have a token for each single byte, so nothing is unknown to them. They '
      + 'learned their vocabularies with SentencePiece from their training texts (`training/vocabulary.py`); the next chapter builds one. The tokenizers of '
      + 'models and encoders in use on this page appear here, too. The README explains how to add others, such '
      + 'as those of GPT-2 and BERT.'));
  ask({});

  return (/** @type {{characters: number, cuts: TokenCut[]}} */ result) => {
    const most = Math.max(...result.cuts.map((cut) => cut.count ?? 0));
    cuts.replaceChildren(...result.cuts.map((cut) => tokenCut(cut, most)));
  };
}

/** @param {TokenCut} cut @param {number} most tokens of any cut */
function tokenCut(cut, most) {
  const [name, rule] = cut.rule ? RULES[cut.name] : [cut.name, ''];
  const head = make('h3', { text: name, title: cut.location || null });
  if (cut.error) {
    const why = make('p', { class: 'at-quiet', text: cut.error });
    return make('section', { class: 'at-cut', 'aria-label': name }, head, why);
  }
  const facts = [
    tokenCount(cut.count),
    cut.each === null ? '' : `${cut.each.toFixed(cut.each < 10 ? 2 : 0)} characters each`,
    `${counted.format(cut.vocabulary)} ${cut.vocabulary === 1 ? 'id' : 'ids'}${cut.name === 'words' && cut.rule ? ' so far' : ''}`,
  ].filter(Boolean).join(' · ');
  const pieces = cut.pieces.map(([text, id], index) => pieceBox(visible(text), {
    index, note: id, title: `token ${index + 1}: ${visibleText(text)}, id ${id}`,
  }));
  const more = cut.count - cut.pieces.length;
  return make('section', { class: 'at-cut', 'aria-label': name },
    make('div', { class: 'at-cut-head' },
      head, make('span', { class: 'at-quiet', text: facts }), extentBar(cut.count / most)),
    rule ? explained(make('p', { class: 'at-quiet', text: rule })) : '',
    make('div', { class: 'at-pieces', tabindex: 0, role: 'region', 'aria-label': `Tokens of ${name}` }, ...pieces,
      more > 0 ? make('span', { class: 'at-quiet', text: `and ${counted.format(more)} more` }) : ''),
    decodedNote(cut));
}

/** Whether the ids say the same text again. @param {TokenCut} cut */
function decodedNote(cut) {
  if (!cut.lost.length) {
    return make('p', { class: 'at-quiet', text: cut.name === 'words' && cut.rule
      ? 'Decodes back to the same text, since its words are separated by single spaces.'
      : 'Decodes back to the same text.' });
  }
  const what = new Intl.ListFormat('en-GB').format(cut.lost);
  return make('p', { class: 'at-quiet' }, `Lost: ${what}. Decodes to `,
    make('q', { dir: 'auto' }, ...visible(cut.joined)), cut.shortened ? ' …' : '.');
}
