/**
 * Messages as the page draws them (`TurnValue`).
 */

/** @import { TurnValue } from '../../ui/runs/runs_contract' */
/** @typedef {import('../service.js').Result} Result */

/** @type {TurnValue} */
const PLAIN = {
  role: 'user', text: '', tokens: null, run: null, state: 'done', dropped: false, note: null, model: '', unfinished: false,
  version: 0, versions: [0, 1],
};

/** A message without the empty lines at its end, which a model would read; the last line keeps its spaces. @param {string} message */
export function withoutBlankEnd(message) {
  const words = message.trimEnd();
  return words + message.slice(words.length).split(/[\r\n]/, 1)[0];
}

/** A message of the visitor's. @param {string} text @returns {TurnValue} */
export const userTurn = (text) => ({ ...PLAIN, text: withoutBlankEnd(text) });

/** @param {import('../service.js').AnswerToken[]} tokens */
export const textOf = (tokens) => tokens.map(({ text }) => text).join('');

/**
 * An answer that is being written.
 * @param {string} model @param {string} run @param {import('../service.js').AnswerToken[]} [tokens]
 * @returns {TurnValue}
 */
export const growingTurn = (model, run, tokens = []) => (
  { ...PLAIN, role: 'assistant', model, run, tokens, text: textOf(tokens), state: 'streaming' });

/** A finished answer. @param {string} run @param {Result} result @param {number} context how many tokens the model reads @returns {TurnValue} */
export function finishedTurn(run, { document, tokens }, context) {
  const { finish_reason: reason, steps } = document, isStopped = reason === 'cancelled';
  const unfinished = steps.length > 0 && (isStopped || reason === 'length') && !isFull(document, context);
  return { ...growingTurn(document.model, run, tokens), state: isStopped ? 'stopped' : 'done', note: noteOf(document, context), unfinished };
}

/** Why a text ended, if that is not obvious. @param {Result['document']} run @param {number} context */
export function noteOf(run, context) {
  if (run.finish_reason !== 'length') return null;
  return isFull(run, context) ? 'reached the context limit' : 'reached the length limit';
}

/** Whether the model could read no more. @param {Result['document']} run @param {number} context */
const isFull = ({ prompt, ids }, context) => prompt.ids.length + ids.length > context;
