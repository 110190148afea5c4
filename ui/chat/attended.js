/**
 * How much the selected token of an answer attends to the messages before it: their texts in the colours of attention.
 *
 * The server is asked for the tokens of each message, in the prompt of one run, when the colours are turned on.
 */

/** @import { MessageToken } from './chat_contract' */

import { make } from '../kit/js/dom.js';
import { shownToken } from '../kit/js/signals.js';

/** The messages in the prompt of a run. @type {{run: string | null, messages: MessageToken[][]}} */
let prompt = { run: null, messages: [] };
/** @type {(run: string) => void} */
let ask = () => {};
/** @type {() => void} */
let draw = () => {};
/** What the inspector shows. @type {{run: string | null, given: number[] | null}} */
let shown = { run: null, given: null };

shownToken.subscribe(null, ({ run, given }) => {
  shown = { run, given };
  if (run && given && prompt.run !== run) {
    prompt = { run, messages: [] }; // until the answer comes
    ask(run);
  }
  draw();
});

/** @param {(run: string) => void} handler asks the server for the messages of a run */
export function whenMessagesAreWanted(handler) {
  ask = handler;
  if (prompt.run) ask(prompt.run);
}

/** @param {string} run @param {MessageToken[][]} messages as the server sent them */
export function putMessages(run, messages) {
  if (run !== prompt.run) return;
  prompt = { run, messages };
  draw();
}

/**
 * Tint the messages before the answer whose token is shown, now and whenever that changes.
 * @param {() => {run: string | null, tint: ReturnType<typeof makeTint>}[]} turns in view
 */
export function tintMessages(turns) {
  draw = () => {
    const inView = turns();
    const answer = shown.given ? inView.findIndex(({ run }) => run !== null && run === shown.run) : -1;
    const messages = answer < 0 || prompt.run !== shown.run ? [] : prompt.messages;
    inView.forEach(({ tint }, number) => {
      if (number !== answer) tint(messages[number - answer + messages.length] ?? null, shown.given ?? []);
    });
  };
  draw();
}

/**
 * The colours of one message.
 * @param {HTMLElement} node holds its text or, of an answer, its tokens
 */
export function makeTint(node) {
  let isTinted = false;

  /** @param {MessageToken[] | null} parts null for no colours @param {number[]} given how much is attended to each token of the prompt */
  return function tint(parts, given) {
    const matches = parts !== null && parts.map(({ text }) => text).join('') === node.textContent;
    if (matches && !node.children.length) node.replaceChildren(...parts.map(({ text }) => make('span', { text })));
    if (!matches && !isTinted) return;
    const spans = /** @type {HTMLElement[]} */ ([...node.children]);
    const levels = matches ? levelsOf(spans.map((span) => span.textContent.length), parts, given) : [];
    spans.forEach((span, index) => {
      const level = matches ? String(levels[index]) : undefined;
      if (span.dataset.attention === level) return;
      if (level === undefined) delete span.dataset.attention;
      else span.dataset.attention = level;
    });
    isTinted = matches;
  };
}

/**
 * The strongest level of the tokens that each piece of a text shares characters with.
 * @param {number[]} lengths of the pieces
 * @param {MessageToken[]} parts of the same text
 * @param {number[]} given by the number of a token
 */
export function levelsOf(lengths, parts, given) {
  const ends = parts.map((sum => ({ text }) => (sum += text.length))(0));
  let end = 0;
  let part = 0;
  return lengths.map((length) => {
    const start = end;
    end += length;
    let most = 0;
    while (part > 0 && ends[part - 1] > start) part -= 1;
    for (; part < parts.length; part += 1) {
      const number = parts[part].token;
      if (length && ends[part] > start && number !== null) most = Math.max(most, given[number] ?? 0);
      if (ends[part] >= end) break;
    }
    return most;
  });
}
