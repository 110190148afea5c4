/**
 * Real sentences: what a word attends to, head by head.
 *
 * @typedef {{tokens: string[], word: number[], layers: number, heads: number, shares: Float64Array}} SentenceAttention
 *   `shares`: what each head of each layer gives to each token, the token fastest
 * @typedef {[layer: number, head: number]} SentenceHead
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make, makeButton } from '../../../kit/js/dom.js';
import { percent, tokenChip, visibleText } from '../../../kit/js/text.js';
import { labelled, sideBySide } from '../../lesson.js';
import { matrixTable } from '../../drawings/matrix.js';
import { unpackedShares } from '../../drawings/packed.js';
import { typing } from '../../text/typing.js';

/** The sentence; in another one the word may be another. @param {SlotWiring} wiring @returns {SlotView} */
export function sentence({ label, controls }) {
  const field = make('input', {
    type: 'text', class: 'at-grow',
    onchange: () => {
      const typed = text.take();
      controls.change({ sentence: typed, word: wordIn(typed, controls.latest('word') ?? '') });
    },
  });
  const text = typing(field);
  return { node: labelled(label, field), draw: ({ inputs }) => text.put(inputs.sentence) };
}

/**
 * The word to look from in a new sentence: the same, or else the last, which has all of the sentence before it.
 * @param {string} text @param {string} word
 */
function wordIn(text, word) {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.some((one) => one.toLowerCase() === word.toLowerCase()) ? word : (words.at(-1) ?? word);
}

/** The tokens of the sentence, shaded by how much the word attends to them, and the heads. @returns {SlotView} */
export function heads() {
  /** @type {SentenceAttention} */
  let attention;
  /** @type {SentenceHead | null} null for the mean of all */
  let head = null;
  let at = -1; // the token whose share of each head the grid shows
  const strip = make('div', {
    class: 'at-row at-wrap at-gap-xs at-sentence-tokens', role: 'group', 'aria-label': 'Tokens, shaded by how much attention they get',
  });
  const summary = make('p', { class: 'at-quiet', role: 'status' });
  const mean = makeButton('Average of all heads', () => pick(null));
  mean.disabled = true; // until there are heads
  const grid = matrixTable({ scale: 'share', onPoint: (cell) => cell && pick([cell.row, cell.column]) });

  function pick(cell) {
    head = cell;
    paint();
  }

  function paint() {
    const { tokens, word } = attention;
    const shares = tokens.map((_, token) => shareOf(attention, token, head));
    const most = Math.max(...shares) || 1;
    strip.querySelectorAll('button').forEach((button, token) => {
      button.style.setProperty('--at-share', String(Math.sqrt(shares[token] / most)));
      button.setAttribute('aria-pressed', String(token === at));
      button.title = percent(shares[token], 1);
    });
    const spelt = visibleText(word.map((token) => tokens[token]).join(''));
    const where = head ? `Layer ${head[0] + 1}, head ${head[1] + 1}` : 'Average of all heads';
    summary.textContent = `${where}: “${spelt}” pays ${percent(shares[at], 1)} of its attention to “${visibleText(tokens[at])}”.`;
    mean.disabled = !head;
    const rows = sharesOf(attention, at);
    grid.update(rows, {
      caption: `How much each head (h) attends to “${visibleText(tokens[at])}”`,
      rowNames: rows.map((_, layer) => `layer ${layer + 1}`), columnNames: rows[0].map((_, one) => `h${one + 1}`),
    });
  }

  function draw(result) {
    attention = { ...result.attention, shares: unpackedShares(result.attention.weights) };
    strip.replaceChildren(...attention.tokens.map((token, index) => make('button', {
      type: 'button', class: attention.word.includes(index) ? 'at-sentence-word' : null, 'aria-pressed': 'false',
      onclick: () => {
        at = index;
        paint();
      },
    }, tokenChip(token, true))));
    const example = attention.tokens.findIndex((token) => token.trim() === result.at);
    [at, head] = example < 0 ? [attention.word[0], null] : [example, bestHead(attention, example)];
    paint();
  }

  return { node: make('div', {}, strip, summary, sideBySide(mean), grid.node), draw };
}

/** How much of the word's attention goes to a token in each head of each layer. @param {SentenceAttention} attention @param {number} token */
const sharesOf = ({ layers, heads: count, tokens, shares }, token) => Array.from({ length: layers }, (_, layer) =>
  Array.from({ length: count }, (__, head) => shares[(layer * count + head) * tokens.length + token]));

/** The same in one head, or in the mean. @param {SentenceAttention} attention @param {number} token @param {SentenceHead | null} head */
function shareOf(attention, token, head) {
  const rows = sharesOf(attention, token);
  if (head) return rows[head[0]][head[1]];
  return rows.flat().reduce((sum, one) => sum + one) / rows.flat().length;
}

/** The head that gives a token the most. @param {SentenceAttention} attention @param {number} token @returns {SentenceHead} */
function bestHead(attention, token) {
  const all = sharesOf(attention, token).flat();
  const best = all.indexOf(Math.max(...all));
  return [Math.floor(best / attention.heads), best % attention.heads];
}
