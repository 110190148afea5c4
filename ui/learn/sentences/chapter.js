/**
 * Real sentences: what a word attends to, head by head.
 *
 * @typedef {{tokens: string[], word: number[], layers: number, heads: number, both: boolean, shares: Uint8Array,
 *   targets: {itself: number, first: number, previous: number, elsewhere: number}}} SentenceAttention
 *   `shares`: what each head of each layer gives to each token, the token fastest, 255 for all; `both`: words behind are seen, too
 * @typedef {[layer: number, head: number]} SentenceHead
 */

import { make } from '../../kit/js/dom.js';
import { percent, tokenChip, visibleText } from '../../kit/js/text.js';
import { chapterInput, inputOf } from '../chapter_input.js';
import { plainButton, labelled, sideBySide, paragraph } from '../lesson.js';
import { matrixTable } from '../matrix.js';

/** @type {import('../lesson.js').Build} */
export function build(root, ask) {
  const input = chapterInput(ask);
  const model = make('select', { onchange: () => ask({ model: model.value }) });
  const sentence = make('input', {
    type: 'text', class: 'at-lesson-wide',
    onchange: () => input.change({ sentence: sentence.value, word: wordIn(sentence.value, word) }),
  });
  let word = '';
  const examples = sideBySide();
  const attention = attentionPart();

  root.append(
    paragraph('What does “it” refer to? A reader finds out by looking back, and attention is how a model looks '
      + 'back. Here a trained model reads a sentence. Click a token to see how much attention each head pays to '
      + 'it, or point at a head to see everything it attends to.'),
    sideBySide(labelled('Model', model), labelled('Sentence', sentence), input.typed('word', 'Word', { size: 10 }),
      input.reset),
    examples, ...attention.nodes,
    paragraph('attend-chat is small and reads from left to right: it reaches “it” before it has read “tired”. The '
      + 'encoder of attend-translate sees both sides. Note that where a model looks does not explain what it '
      + 'decides.'));
  ask({});

  return (result) => {
    input.update(inputOf(result, ['model', 'sentence', 'word']));
    sentence.value = result.sentence;
    word = result.word;
    model.replaceChildren(...result.models.map((name) =>
      make('option', { value: name, text: name, selected: name === result.model })));
    examples.replaceChildren(...result.examples.map(([name, text, from]) =>
      plainButton(`${text} (${from})`, () => input.change({ model: name, sentence: text, word: from }))));
    attention.draw(result);
  };
}

/** The tokens of the sentence, shaded by how much the word attends to them, and the heads. */
function attentionPart() {
  /** @type {SentenceAttention} */
  let found;
  /** @type {SentenceHead | null} null for the mean of all */
  let head = null;
  let at = -1; // the token whose share of each head the grid shows
  const strip = make('div', {
    class: 'at-sentence-tokens', role: 'group', 'aria-label': 'Tokens, shaded by how much attention they get',
  });
  const summary = make('p', { class: 'at-quiet', role: 'status' });
  const targets = make('p', { class: 'at-lesson-text' });
  const mean = plainButton('Average of all heads', () => pick(null));
  const grid = matrixTable({ scale: 'share', onPoint: (cell) => cell && pick([cell.row, cell.column]) });

  function pick(cell) {
    head = cell;
    paint();
  }

  function paint() {
    const { tokens, layers, heads, word } = found;
    const shares = tokens.map((_, token) => shareOf(found, token, head));
    const most = Math.max(...shares) || 1;
    strip.querySelectorAll('button').forEach((button, token) => {
      button.style.setProperty('--at-share', String(Math.sqrt(shares[token] / most)));
      button.setAttribute('aria-pressed', String(token === at));
      button.title = percent(shares[token]);
    });
    const spelt = visibleText(word.map((token) => tokens[token]).join(''));
    const where = head ? `Layer ${head[0] + 1}, head ${head[1] + 1}` : 'Average of all heads';
    summary.textContent = `${where}: “${spelt}” pays ${percent(shares[at])} of its attention to “${visibleText(tokens[at])}”.`;
    mean.disabled = !head;
    const [rows, columns] = [layers, heads].map((count) => Array.from({ length: count }, (_, index) => index));
    grid.update(rows.map((layer) => columns.map((one) => shareOf(found, at, [layer, one]))), {
      caption: `How much each head (h) attends to “${visibleText(tokens[at])}”`,
      rowNames: rows.map((layer) => `layer ${layer + 1}`), columnNames: columns.map((one) => `h${one + 1}`),
    });
  }

  function draw(result) {
    const shares = Uint8Array.from(atob(result.attention.weights), (character) => character.charCodeAt(0));
    found = { ...result.attention, shares };
    strip.replaceChildren(...found.tokens.map((token, index) => make('button', {
      type: 'button', class: found.word.includes(index) ? 'at-sentence-word' : null, 'aria-pressed': 'false',
      onclick: () => {
        at = index;
        paint();
      },
    }, tokenChip(token, true))));
    const example = found.tokens.findIndex((token) => token.trim() === result.at);
    targets.textContent = targetsText(found);
    [at, head] = example < 0 ? [found.word[0], null] : [example, bestHead(found, example)];
    paint();
  }

  return { nodes: [strip, summary, sideBySide(mean), grid.node, targets], draw };
}

/**
 * The word to look from in a new sentence: the same, or else the last, which has all of the sentence before it.
 * @param {string} sentence @param {string} word
 */
function wordIn(sentence, word) {
  const words = sentence.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.some((one) => one.toLowerCase() === word.toLowerCase()) ? word : (words.at(-1) ?? word);
}

/**
 * How much of the word's attention goes to a token, in one head or in the mean.
 * @param {SentenceAttention} attention @param {number} token @param {SentenceHead | null} head
 */
function shareOf({ layers, heads, tokens, shares }, token, head) {
  const of = (number) => shares[number * tokens.length + token] / 255;
  if (head) return of(head[0] * heads + head[1]);
  const all = Array.from({ length: layers * heads }, (_, number) => of(number));
  return all.reduce((sum, one) => sum + one, 0) / all.length;
}

/** What most of the heads attend to. @param {SentenceAttention} attention */
function targetsText({ tokens, word, layers, heads, both, targets: { itself, first, previous, elsewhere } }) {
  const name = (index) => `“${visibleText(tokens[index].trim() || tokens[index])}”`;
  const before = word[0] > 1 ? `, ${previous} to ${name(word[0] - 1)} just before` : '';
  return `Which token gets the most? Of the ${layers * heads} heads, ${first} attend most to the first token, ${name(0)}${before}, `
    + `${itself} to the word itself and ${elsewhere} to other words.`
    + (both ? '' : ' In models that read from left to right, the first token, which all others can see, often gets what a head '
      + 'has no use for: the weights of a row add up to 1, so they must go somewhere (Xiao et al., 2024).');
}

/** The head that gives a token the most. @param {SentenceAttention} attention @param {number} token @returns {SentenceHead} */
function bestHead({ layers, heads, tokens, shares }, token) {
  const of = (number) => shares[number * tokens.length + token];
  const all = Array.from({ length: layers * heads }, (_, number) => number);
  const best = all.reduce((one, other) => (of(other) > of(one) ? other : one), 0);
  return [Math.floor(best / heads), best % heads];
}
