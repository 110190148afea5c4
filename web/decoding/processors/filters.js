/**
 * Stages that reshape the distribution or cut it off: temperature, and the filters that remove unlikely tokens.
 *
 * Each filter keeps at least the `least` most probable tokens, which is one unless beams sample, except for typical
 * sampling, which keeps the most typical ones. Sums are computed in double precision, and compared in single precision as
 * in Python. Shapes: V vocabulary.
 */

import { bestTokens, probabilitiesOf, remaining, summarize } from '../distribution.js';
import { uniformAt } from '../random.js';
import { COLDEST } from '../settings.js';

/** @typedef {import('./chain.js').Stage} Stage */

/** Remove the tokens that `unwanted` finds. @param {Float32Array} logits (V,) @param {(id: number) => boolean} unwanted */
const without = (logits, unwanted) => logits.map((logit, id) => (unwanted(id) ? -Infinity : logit));

/**
 * The logit of the most probable token number `count`; -Infinity where fewer remain.
 * @param {Float32Array} logits (V,)
 * @param {number} count
 */
function edge(logits, count) {
  const best = bestTokens(logits, count);
  return best.length < count ? -Infinity : logits[best.at(-1)];
}

/**
 * A filter by a threshold, which spares the `least` most probable tokens.
 * @param {string} name
 * @param {number} least
 * @param {(logits: Float32Array) => (id: number) => boolean} rule
 * @returns {Stage}
 */
const threshold = (name, least, rule) => ({
  name,
  apply: (logits) => {
    const unwanted = rule(logits), top = edge(logits, least);
    return without(logits, (id) => logits[id] < top && unwanted(id));
  },
});

/**
 * Divides the logits: below 1 sharpens the distribution, above 1 flattens it.
 * @param {number} value
 * @param {number} range
 * @param {number} exponent
 * @returns {Stage | null}
 */
export function temperature(value, range, exponent) {
  if (value < COLDEST) return null;
  const lowest = Math.max(0, value - range), highest = value + range;
  const at = (logits) => {
    if (!range) return Math.fround(value);
    const { kept, entropy } = summarize(logits);
    const unsure = Math.min(1, (entropy * Math.LN2) / Math.log(Math.max(kept, 2)));
    return kept < 2 ? 1 : Math.fround(Math.max(COLDEST, lowest + (highest - lowest) * unsure ** exponent));
  };
  return { name: 'temperature', apply: (logits) => { const divisor = at(logits); return logits.map((logit) => logit / divisor); } };
}

/**
 * Keeps the k most probable tokens, and all that tie with the last of them (Fan, Lewis and Dauphin, 2018).
 * @param {number} k
 * @param {number} least
 * @returns {Stage}
 */
export const topK = (k, least) => ({
  name: 'top_k',
  apply: (logits) => {
    const smallest = edge(logits, Math.max(k, least));
    return without(logits, (id) => logits[id] < smallest);
  },
});

/**
 * Keeps the smallest set of most probable tokens whose mass reaches p (Holtzman et al., 2019).
 * @param {number} p
 * @param {number} least
 * @returns {Stage}
 */
export const topP = (p, least) => ({
  name: 'top_p',
  apply: (logits) => {
    const ascending = logits.filter((logit) => logit > -Infinity).toSorted();
    const probabilities = probabilitiesOf(ascending), most = Math.max(0, ascending.length - least), below = Math.fround(1 - p);
    let removed = 0;
    for (let sum = probabilities[0]; removed < most && Math.fround(sum) <= below; sum += probabilities[removed]) removed++;
    return without(logits, (id) => logits[id] < ascending[removed]);
  },
});

/**
 * Keeps tokens at least this fraction as probable as the most probable one (Nguyen et al., 2024).
 * @param {number} p
 * @param {number} least
 * @returns {Stage}
 */
export const minP = (p, least) => threshold('min_p', least, (logits) => {
  const highest = edge(logits, 1);
  return (id) => Math.exp(logits[id] - highest) < p;
});

/**
 * Keeps the tokens whose surprise is nearest the entropy, until their mass reaches p (Meister et al., 2022).
 * @param {number} p
 * @param {number} least
 * @returns {Stage}
 */
export const typicalP = (p, least) => ({
  name: 'typical_p',
  apply: (logits) => {
    const { logTotal, entropy } = summarize(logits);
    const distance = logits.map((logit) => Math.abs(logTotal - logit - entropy * Math.LN2));
    const nearest = remaining(logits).toSorted((a, b) => distance[a] - distance[b]);
    let last = 0;
    for (let sum = 0; last < nearest.length; last++) {
      sum += Math.exp(logits[nearest[last]] - logTotal);
      if (Math.fround(sum) >= Math.fround(p)) break;
    }
    const farthest = distance[nearest[Math.min(Math.max(last, least - 1), nearest.length - 1)]];
    return without(logits, (id) => distance[id] > farthest);
  },
});

/**
 * Removes every token less probable than epsilon (Hewitt, Manning and Liang, 2022).
 * @param {number} epsilon
 * @param {number} least
 * @returns {Stage}
 */
export const epsilonCutoff = (epsilon, least) => threshold('epsilon_cutoff', least, (logits) => {
  const probabilities = probabilitiesOf(logits);
  return (id) => probabilities[id] < epsilon;
});

/**
 * The same, with a lower limit where the distribution is flat (Hewitt, Manning and Liang, 2022).
 * @param {number} epsilon
 * @param {number} least
 * @returns {Stage}
 */
export const etaCutoff = (epsilon, least) => threshold('eta_cutoff', least, (logits) => {
  const probabilities = probabilitiesOf(logits), { entropy } = summarize(logits);
  const eta = Math.min(epsilon, Math.sqrt(epsilon) * 2 ** -entropy);
  return (id) => probabilities[id] < eta;
});

/**
 * Removes tokens less probable than a times the square of the highest probability.
 * @param {number} a
 * @param {number} least
 * @returns {Stage}
 */
export const topA = (a, least) => threshold('top_a', least, (logits) => {
  const probabilities = probabilitiesOf(logits), limit = a * probabilities[bestTokens(logits, 1)[0]] ** 2;
  return (id) => probabilities[id] < limit;
});

/**
 * Keeps the logits within n standard deviations of the highest (Tang et al., 2024).
 * @param {number} n
 * @param {number} least
 * @returns {Stage}
 */
export const topNSigma = (n, least) => threshold('top_n_sigma', least, (logits) => {
  const left = logits.filter((logit) => logit > -Infinity);
  const mean = left.reduce((sum, logit) => sum + logit, 0) / left.length;
  const variance = left.reduce((sum, logit) => sum + (logit - mean) ** 2, 0) / left.length;
  const limit = edge(logits, 1) - n * Math.sqrt(variance);
  return (id) => logits[id] < limit;
});

/**
 * Keeps the most probable tokens whose terms of the entropy sum to at most this fraction of it (Baghaei Potraghloo et
 * al., 2025); of the 100 best.
 * @param {number} h
 * @returns {Stage}
 */
export const topH = (h) => ({
  name: 'top_h',
  apply: (logits) => {
    const best = bestTokens(logits, 100), left = Float32Array.from(best, (id) => logits[id]);
    const logTotal = Math.fround(summarize(left).logTotal), logProbabilities = left.map((logit) => logit - logTotal);
    const probabilities = probabilitiesOf(left);
    const terms = probabilities.map((probability) => -probability * Math.log(probability));
    const limit = h * probabilities.reduce((entropy, probability, i) => entropy - probability * logProbabilities[i], 0);
    let kept = 0;
    for (let sum = terms[0]; kept < best.length && (!kept || sum <= limit); sum += terms[kept]) kept++;
    const stay = new Set(best.slice(0, kept));
    return without(logits, (id) => !stay.has(id));
  },
});

/**
 * Excludes top choices: with some probability, only the least probable of all tokens above a limit stays. Nothing is
 * excluded if a protected token would be.
 * @param {{probability: number, limit: number, seed: number, drawsUsed: number, protectedIds: number[]}} options
 * @returns {Stage}
 */
export const xtc = ({ probability, limit, seed, drawsUsed, protectedIds }) => ({
  name: 'xtc',
  apply: (logits, { tokens }) => {
    if (uniformAt(seed, drawsUsed + tokens.length) >= probability) return logits;
    const probabilities = probabilitiesOf(logits);
    const top = remaining(logits).filter((id) => probabilities[id] >= limit);
    const least = Math.min(...top.map((id) => probabilities[id]));
    const stays = top.findLast((id) => probabilities[id] === least);
    const excluded = new Set(top.filter((id) => id !== stays));
    return protectedIds.some((id) => excluded.has(id)) ? logits : without(logits, (id) => excluded.has(id));
  },
});
