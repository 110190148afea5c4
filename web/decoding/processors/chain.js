/**
 * The stages that settings switch on, in the order of the settings. Each is pure: it has a name, and makes logits of
 * logits, with -Infinity for a token that it removes.
 */

import * as filters from './filters.js';
import * as penalties from './penalties.js';

/**
 * @typedef {{prompt: number[], tokens: number[]}} Context the decoder's prompt, and what was generated so far
 * @typedef {{name: string, apply: (logits: Float32Array, context: Context) => Float32Array}} Stage
 * @typedef {import('../request.js').Request} Request
 * @typedef {import('../settings.js').Settings} Settings
 */

/**
 * By its name in the setting `order`: the stage, or null where the settings leave it out.
 * @type {Record<string, (settings: Settings, request: Request, least: number) => Stage | null>}
 */
const PENALTIES = {
  logit_bias: ({ logit_bias: biases }) => (Object.keys(biases).length ? penalties.logitBias(biases) : null),
  repetition_penalty: ({ repetition_penalty: penalty }) => (penalty === 1 ? null : penalties.repetitionPenalty(penalty)),
  frequency_penalty: ({ frequency_penalty: penalty }) => (penalty ? penalties.frequencyPenalty(penalty) : null),
  presence_penalty: ({ presence_penalty: penalty }) => (penalty ? penalties.presencePenalty(penalty) : null),
  no_repeat_ngram_size: ({ no_repeat_ngram_size: size }) => (size ? penalties.noRepeatNgram(size) : null),
  banned_words: ({ banned_words: words }, request) => (words.length ? penalties.bannedWords(spellings(words, request)) : null),
  min_new_tokens: ({ min_new_tokens: count }, request) => (count ? penalties.minNewTokens(count, request.endTokens) : null),
};

/** Those that only sampling and beams use. @type {typeof PENALTIES} */
const WARPERS = {
  temperature: ({ temperature, dynatemp_range: range, dynatemp_exponent: exponent }) => (
    temperature === 1 && !range ? null : filters.temperature(temperature, range, exponent)),
  top_h: ({ top_h: h }) => (h ? filters.topH(h) : null),
  top_k: ({ top_k: k }, _, least) => (k ? filters.topK(k, least) : null),
  top_p: ({ top_p: p }, _, least) => (p < 1 ? filters.topP(p, least) : null),
  min_p: ({ min_p: p }, _, least) => (p ? filters.minP(p, least) : null),
  typical_p: ({ typical_p: p }, _, least) => (p < 1 ? filters.typicalP(p, least) : null),
  epsilon_cutoff: ({ epsilon_cutoff: epsilon }, _, least) => (epsilon ? filters.epsilonCutoff(epsilon, least) : null),
  eta_cutoff: ({ eta_cutoff: epsilon }, _, least) => (epsilon ? filters.etaCutoff(epsilon, least) : null),
  top_a: ({ top_a: a }, _, least) => (a ? filters.topA(a, least) : null),
  top_n_sigma: ({ top_n_sigma: n }, _, least) => (n ? filters.topNSigma(n, least) : null),
};

/** The only one that draws random numbers. @type {typeof PENALTIES} */
const RANDOM = {
  xtc: ({ xtc_probability: probability, xtc_threshold: limit, seed }, request) => (
    probability ? filters.xtc({ probability, limit, seed, drawsUsed: request.drawsUsed, protectedIds: [...request.endTokens, ...lineBreak(request)] }) : null),
};

const STAGES = {
  greedy: PENALTIES,
  sample: { ...PENALTIES, ...WARPERS, ...RANDOM },
  beam: { ...PENALTIES, ...WARPERS },
  beam_sample: { ...PENALTIES, ...WARPERS, ...RANDOM },
};

/** The token of a line break, if the vocabulary has one. @param {Request} request */
function lineBreak({ encode, decode }) {
  const ids = encode('\n').slice(-1);
  return decode(ids).includes('\n') ? ids : [];
}

/**
 * Each text with and without a leading space, since a word has other tokens inside a sentence.
 * @param {string[]} words
 * @param {Request} request
 */
function spellings(words, { encode }) {
  const lost = words.find((word) => !encode(word).length);  // invisible characters, which some tokenizers drop
  if (lost !== undefined) throw new Error(`banned_words contains ${JSON.stringify(lost)}, which has no tokens in this model: leave it out.`);
  const texts = new Set(words.flatMap((word) => [word, ` ${word}`]));
  return [...new Map([...texts].map(encode).map((ids) => [ids.join(), ids])).values()];
}

/**
 * @param {keyof typeof STAGES} strategy
 * @param {Settings} settings
 * @param {Request} request
 * @param {number} least how many tokens a filter must leave
 * @returns {Stage[]}
 */
export function buildChain(strategy, settings, request, least) {
  const stages = settings.order.map((name) => STAGES[strategy][name]?.(settings, request, least)).filter(Boolean);
  return request.suppressed.length ? [penalties.suppressTokens(request.suppressed), ...stages] : stages;
}

/**
 * The logits after every stage, beginning with the untouched ones.
 * @param {Stage[]} stages
 * @param {Float32Array} logits
 * @param {Context} context
 */
export function runChain(stages, logits, context) {
  const outputs = [logits];
  for (const { apply } of stages) outputs.push(apply(outputs.at(-1), context));
  return outputs;
}
