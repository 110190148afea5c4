/**
 * Stages that make tokens less or more likely because of the text so far, or by their ids, and those that ban tokens.
 *
 * Numbers are rounded to single precision where Python rounds them. Shapes: V vocabulary.
 */

/** @typedef {import('./chain.js').Stage} Stage */

/**
 * @param {Float32Array} logits
 * @param {(logit: number, id: number) => number} change of the tokens in `ids`
 * @param {Iterable<number>} ids
 */
function changed(logits, ids, change) {
  const copy = logits.slice();
  for (const id of ids) copy[id] = change(logits[id], id);
  return copy;
}

/** Adds a number to the logits of single tokens. @param {Record<string, number>} biases @returns {Stage} */
export const logitBias = (biases) => ({
  name: 'logit_bias',
  apply: (logits) => changed(logits, Object.keys(biases).map(Number), (logit, id) => logit + Math.fround(biases[id])),
});

/**
 * Divides the positive logits of the text's tokens and multiplies the negative ones (Keskar et al., 2019).
 * @param {number} penalty
 * @returns {Stage}
 */
export function repetitionPenalty(penalty) {
  const factor = Math.fround(penalty);
  return {
    name: 'repetition_penalty',
    apply: (logits, { prompt, tokens }) => changed(logits, new Set([...prompt, ...tokens]), (logit) => (logit < 0 ? logit * factor : logit / factor)),
  };
}

/** Subtracts this from a token's logit each time that the answer contains it. @param {number} penalty @returns {Stage} */
export const frequencyPenalty = (penalty) => ({
  name: 'frequency_penalty',
  apply: (logits, { tokens }) => {
    const counts = new Map();
    for (const token of tokens) counts.set(token, 1 + (counts.get(token) ?? 0));
    return changed(logits, counts.keys(), (logit, id) => logit - Math.fround(Math.fround(penalty) * counts.get(id)));
  },
});

/** Subtracts this once from the logit of every token in the answer. @param {number} penalty @returns {Stage} */
export const presencePenalty = (penalty) => ({
  name: 'presence_penalty',
  apply: (logits, { tokens }) => changed(logits, new Set(tokens), (logit) => logit - Math.fround(penalty)),
});

/** Remove tokens; if none would be left, all stay. @param {Float32Array} logits (V,) @param {Iterable<number>} ids */
function ban(logits, ids) {
  const left = changed(logits, ids, () => -Infinity);
  return left.some((logit) => logit > -Infinity) ? left : logits;
}

/** Lets no sequence of n tokens occur twice, prompt included (Paulus, Xiong and Socher, 2017). @param {number} size n @returns {Stage} */
export const noRepeatNgram = (size) => ({
  name: 'no_repeat_ngram_size',
  apply: (logits, { prompt, tokens }) => {
    const text = [...prompt, ...tokens], newest = text.length + 1 - size;
    const repeats = (end) => text.slice(newest).every((token, i) => text[end - size + 1 + i] === token);
    return ban(logits, text.filter((_, end) => end >= size - 1 && newest >= 0 && repeats(end)));
  },
});

/** Lets none of these sequences of tokens be completed. @param {number[][]} sequences @returns {Stage} */
export const bannedWords = (sequences) => ({
  name: 'banned_words',
  apply: (logits, { prompt, tokens }) => {
    const text = [...prompt, ...tokens];
    const completes = (sequence) => sequence.slice(0, -1).every((token, i) => text[text.length - sequence.length + 1 + i] === token);
    return ban(logits, sequences.filter(completes).map((sequence) => sequence.at(-1)));
  },
});

/** Bans end tokens until this many tokens have been generated. @param {number} count @param {number[]} endTokens @returns {Stage} */
export const minNewTokens = (count, endTokens) => ({
  name: 'min_new_tokens',
  apply: (logits, { tokens }) => ban(logits, tokens.length < count ? endTokens : []),
});

/** Tokens that the model must never generate, such as a translator's padding. @param {number[]} ids @returns {Stage} */
export const suppressTokens = (ids) => ({ name: 'suppress_tokens', apply: (logits) => ban(logits, ids) });
