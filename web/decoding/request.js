/**
 * What a strategy knows besides its settings, and when a continuation ends: at an end token, at a stop text, or at the
 * length limit.
 */

/**
 * @typedef {object} Request
 * @property {number[]} prompt the beginning of the decoder's text
 * @property {number[]} source what an encoder reads; the prompt is then the decoder's start
 * @property {number[]} endTokens
 * @property {number[]} suppressed tokens that are never generated
 * @property {number} contextLength the longest text that the model reads: all tokens but the last one generated
 * @property {number} drawsUsed random numbers already used, where an earlier text is continued
 * @property {(ids: number[]) => string} decode
 * @property {(ids: number[]) => string[]} texts what each token adds
 * @property {(text: string) => number[]} encode
 *
 * @typedef {import('../../decoding/run/run_document').FinishReason} FinishReason
 * @typedef {import('./settings.js').Settings} Settings
 */

/** How many tokens can be generated; the last one needs no place in the context. @param {Request} request @param {Settings} settings */
export const room = ({ contextLength, prompt }, { max_new_tokens: most }) => Math.min(most, contextLength + 1 - prompt.length);

/**
 * Why the last of these generated tokens completes them; null if it does not.
 * @param {number[]} tokens
 * @param {Request} request
 * @param {Settings} settings
 * @returns {FinishReason | null}
 */
export function finishReason(tokens, request, settings) {
  if (request.endTokens.includes(tokens.at(-1))) return 'stop';
  const text = settings.stop_texts.length ? request.decode(tokens) : '';
  if (settings.stop_texts.some((stop) => text.includes(stop))) return 'stop_text';
  return tokens.length >= room(request, settings) ? 'length' : null;
}

/** The text up to the first stop text. @param {string} text @param {string[]} stopTexts */
export function beforeStop(text, stopTexts) {
  const places = stopTexts.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
  return places.length ? text.slice(0, Math.min(...places)) : text;
}
