/**
 * What a tab shows when the server is lost, as a document like those that the server writes: a conversation, a translation or
 * a text that was still growing. Answers that the server never packed keep their words, but not their tables.
 */

/** @import { TurnValue } from '../runs/runs_contract' */
/** @import { DocumentValue } from './history_contract' */

const SCHEMA = 'attend.document/1';
const MAX_TITLE = 80; // characters, as in ui/runs/documents/kept_document.py

/**
 * @typedef {{kind: string, turns?: TurnValue[], text?: string}} Interrupted what a tab shows: the messages of a conversation or
 *   of a translation, whose source is `text`, or the text of Write
 * @typedef {Record<string, any> & {parent: number, shown: boolean}} Message of a conversation, as it is kept
 */

/**
 * @param {DocumentValue | undefined} before as it was last kept
 * @param {Interrupted} interrupted
 * @param {{key: string, model: string}} names for a document that wasn't kept before
 * @returns {DocumentValue}
 */
export function rescued(before, { kind, turns = [], text = '' }, { key, model }) {
  const content = contentOf(before, kind, turns, text);
  const messages = content.messages ?? [content.answer ?? content];
  const names = messages.map(({ run }) => run).filter(Boolean);
  const title = text || turns[0]?.text || '';
  return { schema: SCHEMA, kind, key, title: title.slice(0, MAX_TITLE), model, runs: {}, ...before, content, names };
}

/** @param {DocumentValue | undefined} before @param {string} kind @param {TurnValue[]} turns @param {string} text */
function contentOf(before, kind, turns, text) {
  const old = before?.content;
  if (kind === 'chat') return { system: old?.system ?? '', messages: withTurns(old?.messages ?? [], turns) };
  if (kind === 'translate') return isSameTurn(old?.answer, turns[0]) && old.text === text ? old : { text, answer: asMessage(turns[0]) };
  return old?.text === text ? old : { text, run: '' };
}

/**
 * The messages of all versions, of which these turns are in view.
 * @param {Message[]} saved @param {TurnValue[]} turns
 */
export function withTurns(saved, turns) {
  const messages = saved.map((message) => ({ ...message }));
  let parent = -1;
  turns.forEach((turn, number) => {
    const siblings = messages.map((message, index) => ({ message, index })).filter(({ message }) => message.parent === parent);
    const isGrown = ({ message }) => message.role === turn.role && message.state === 'stopped' && message.shown
      && turn.text.startsWith(message.text) && number === turns.length - 1;
    const match = siblings.find(({ message }) => isSameTurn(message, turn) && message.shown)
      ?? siblings.find(({ message }) => isSameTurn(message, turn)) ?? siblings.find(isGrown);
    for (const { message } of siblings) message.shown = false;
    const index = match?.index ?? messages.length;
    const message = match && isSameTurn(match.message, turn) ? match.message : asMessage(turn);
    messages[index] = { ...message, parent, shown: true };
    parent = index;
  });
  for (const message of messages) if (message.parent === parent) message.shown = false;
  return messages;
}

/** @param {Record<string, any> | undefined} message as it is kept @param {TurnValue | undefined} turn */
const isSameTurn = (message, turn) => message?.role === turn?.role && message?.text === turn?.text;

/** @param {TurnValue} turn */
const asMessage = ({ role, text, tokens, state, note, model }) => ({
  role, text, tokens, run: null, state: state === 'streaming' ? 'stopped' : state, note, model, unfinished: false,
});
