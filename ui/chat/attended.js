/**
 * Colours the messages before an answer by how much its selected token attends to them.
 *
 * The server is asked which tokens of the prompt each message consists of, once for each run and only while these colours
 * are on.
 */

/** @import { MessageToken } from './chat_contract' */

import { make } from '../kit/js/dom.js';
import { inspectedToken, messagesWanted } from '../kit/js/signals.js';
import { shadeByAttention } from '../kit/js/text.js';

/** The messages in the prompt of a run; none until the server has sent them. @type {{run: string | null, messages: MessageToken[][]}} */
let prompt = { run: null, messages: [] };
let draw = () => {};
/** The run in the inspector, and how much its selected token attends to each token of the prompt. */
let inspected = { run: /** @type {string | null} */ (null), levels: /** @type {number[] | null} */ (null) };

inspectedToken.subscribe(null, ({ run, promptLevels: levels }) => {
  inspected = { run, levels };
  if (run && levels && prompt.run !== run) {
    prompt = { run, messages: [] };
    messagesWanted.publish(run);
  }
  draw();
});

/** The server has sent the messages of a run. @param {string} run @param {MessageToken[][]} messages */
export function putMessages(run, messages) {
  if (run !== prompt.run) return;
  prompt = { run, messages };
  draw();
}

/**
 * Tint the messages before the answer whose token is inspected, now and whenever that changes.
 * @param {() => {run: string | null, tint: ReturnType<typeof makeTint>}[]} turnsInView
 */
export function tintMessages(turnsInView) {
  draw = () => {
    const turns = turnsInView();
    const { run, levels } = inspected;
    const answer = levels && run !== null ? turns.findIndex((turn) => turn.run === run) : -1;
    const messages = answer < 0 || prompt.run !== run ? [] : prompt.messages;
    turns.forEach(({ tint }, number) => {
      if (number !== answer) tint(messages[number - answer + messages.length] ?? null, levels ?? []);
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

  /** @param {MessageToken[] | null} parts null for no colours @param {number[]} promptLevels of each token of the prompt */
  return function tint(parts, promptLevels) {
    const matches = parts !== null && parts.map(({ text }) => text).join('') === node.textContent;
    if (matches && !node.children.length) node.replaceChildren(...parts.map(({ text }) => make('span', { text })));
    const pieces = /** @type {HTMLElement[]} */ ([...node.children]);
    const lengths = pieces.map((piece) => piece.textContent.length);
    if (matches || isTinted) shadeByAttention(pieces, matches ? levelsOf(lengths, parts, promptLevels) : null);
    isTinted = matches;
  };
}

/**
 * The strongest level of the tokens that each piece of a text shares characters with.
 * @param {number[]} lengths of the pieces
 * @param {MessageToken[]} parts of the same text
 * @param {number[]} promptLevels by the number of a token
 */
export function levelsOf(lengths, parts, promptLevels) {
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
      if (length && ends[part] > start && number !== null) most = Math.max(most, promptLevels[number] ?? 0);
      if (ends[part] >= end) break;
    }
    return most;
  });
}
