/**
 * What logits say: probabilities, entropy, the best tokens. A token that was removed has the logit -Infinity.
 *
 * Shapes: V vocabulary.
 */

/**
 * The distribution after one stage: how many tokens remain, the logarithm of the sum of their exponentials, which is
 * subtracted from a logit to get the log-probability, and the entropy in bits.
 * @typedef {{kept: number, logTotal: number, entropy: number}} Summary
 */

/** @param {Float32Array} logits (V,) @returns {Summary} */
export function summarize(logits) {
  let highest = -Infinity, kept = 0, total = 0, weighted = 0;
  for (let id = 0; id < logits.length; id++) {
    if (logits[id] > highest) highest = logits[id];
    if (logits[id] > -Infinity) kept++;
  }
  for (let id = 0; id < logits.length; id++) {
    if (logits[id] === -Infinity) continue;
    const relative = logits[id] - highest, weight = Math.exp(relative);
    total += weight;
    weighted += weight * relative;
  }
  return { kept, logTotal: highest + Math.log(total), entropy: Math.max(0, (Math.log(total) - weighted / total) / Math.LN2) };
}

/**
 * The share of the probability that a following stage keeps, where it removes tokens.
 * @param {Float32Array} logits (V,)
 * @param {number} logTotal
 * @param {Float32Array} following (V,)
 */
export function massKept(logits, logTotal, following) {
  let left = 0;
  for (let id = 0; id < logits.length; id++) if (following[id] > -Infinity) left += Math.exp(logits[id] - logTotal);
  return Math.min(1, left);
}

/**
 * The remaining tokens with the highest logits, highest first, ties by id.
 * @param {Float32Array} logits (V,)
 * @param {number} count at most
 */
export function bestTokens(logits, count) {
  const tokens = new Int32Array(count);
  let size = 0, least = -Infinity; // of those found, once there are enough
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id];
    if (!(logit > least)) continue;
    if (size < count) size++;
    let place = size - 1;
    for (; place > 0 && logits[tokens[place - 1]] < logit; place--) tokens[place] = tokens[place - 1];
    tokens[place] = id;
    if (size === count) least = count ? logits[tokens[count - 1]] : Infinity;
  }
  return [...tokens.subarray(0, size)];
}

/** The rank of a token by its logit, from 1; ties by id. @param {Float32Array} logits (V,) @param {number} token */
export function rankOf(logits, token) {
  let better = 0;
  for (let id = 0; id < logits.length; id++) {
    if (logits[id] > logits[token] || (logits[id] === logits[token] && id < token)) better++;
  }
  return 1 + better;
}

/** The remaining tokens by id. @param {Float32Array} logits (V,) */
export function remaining(logits) {
  const ids = [];
  for (let id = 0; id < logits.length; id++) if (logits[id] > -Infinity) ids.push(id);
  return ids;
}

/** The probabilities of all tokens. @param {Float32Array} logits (V,) @returns {Float64Array} (V,) */
export function probabilitiesOf(logits) {
  let highest = -Infinity, total = 0;
  for (let id = 0; id < logits.length; id++) if (logits[id] > highest) highest = logits[id];
  const probabilities = new Float64Array(logits.length);
  for (let id = 0; id < logits.length; id++) total += probabilities[id] = Math.exp(logits[id] - highest);
  for (let id = 0; id < logits.length; id++) probabilities[id] /= total;
  return probabilities;
}
