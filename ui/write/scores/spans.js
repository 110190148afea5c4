/**
 * Where the tokens of a scored text stand in it, and curves and tables of their surprise. Places are bytes of the text, so that
 * the tokens of different models stand over each other.
 */

/** @import { ScoredText } from './scores_contract' */
/** @import { Sheet } from '../../kit/js/data.js' */

/** @typedef {{from: number, to: number}} Span */

/** Where each token stands. Tokens that only together form a character share its bytes. @param {ScoredText} score @returns {Span[]} */
export function spansOf({ tokens, skipped }) {
  /** @type {Span[]} */
  const spans = [];
  let from = skipped?.bytes ?? 0;
  let parts = 0; // of a character that isn't complete
  tokens.forEach(({ bytes }, index) => {
    parts += 1;
    if (!bytes && index < tokens.length - 1) return;
    for (let part = 0; part < parts; part += 1) spans.push({ from: from + (bytes * part) / parts, to: from + (bytes * (part + 1)) / parts });
    from += bytes;
    parts = 0;
  });
  return spans;
}

/** The token at a place; the nearest one where there is none. @param {Span[]} spans @param {number} place */
export function indexAt(spans, place) {
  let [low, high] = [0, spans.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].to > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The average surprise in each of so many equal parts of the text; null where nothing is scored.
 * @param {ScoredText} score
 * @param {Span[]} spans
 * @param {number} parts
 * @param {boolean} isPerByte bits per byte, which models with different tokens share; otherwise bits per token
 */
export function curveOf({ tokens, bytes }, spans, parts, isPerByte) {
  const [sums, weights] = [new Float64Array(parts), new Float64Array(parts)];
  spans.forEach(({ from, to }, index) => {
    if (from === to) return; // a part of a character whose end isn't scored
    const height = isPerByte ? tokens[index].surprise / (to - from) : tokens[index].surprise;
    const [begin, end] = [(from / bytes) * parts, Math.min(parts, (to / bytes) * parts)];
    for (let part = Math.floor(begin); part < end; part += 1) {
      const share = Math.min(end, part + 1) - Math.max(begin, part);
      sums[part] += share * height;
      weights[part] += share;
    }
  });
  return Array.from(sums, (sum, part) => (weights[part] > 0 ? sum / weights[part] : null));
}

/**
 * Bits per byte of the part of a text that all models have scored, since only over the same bytes can they be compared: a model
 * may leave out the first token, or have been stopped. Of a token at the edge, the share of its bytes counts.
 * @param {{score: ScoredText, spans: Span[]}[]} placed
 */
export function comparedBitsPerByte(placed) {
  const begin = Math.max(...placed.map(({ spans }) => spans[0].from));
  const end = Math.min(...placed.map(({ spans }) => spans[spans.length - 1].to));
  return placed.map(({ score, spans }) => spans.reduce((sum, { from, to }, index) => {
    const inside = Math.min(to, end) - Math.max(from, begin);
    return inside > 0 ? sum + (score.tokens[index].surprise * inside) / (to - from) : sum;
  }, 0) / (end - begin));
}

/** @param {number} surprise in bits */
export const probabilityOf = (surprise) => 2 ** -surprise;

/** The most surprising tokens, by their indices. @param {ScoredText} score @param {number} count */
export const mostSurprising = ({ tokens }, count) =>
  Array.from(tokens.keys()).toSorted((one, other) => tokens[other].surprise - tokens[one].surprise || one - other).slice(0, count);

/** @param {ScoredText} score @returns {Sheet} */
export const scoreSheet = ({ title, tokens, skipped }) => ({
  title, head: ['number', 'id', 'token', 'surprise, bits', 'probability', 'rank', 'entropy, bits'],
  rows: tokens.map(({ id, text, surprise, rank, entropy }, index) => [index + (skipped ? 2 : 1), id, JSON.stringify(text), surprise,
    Number(probabilityOf(surprise).toPrecision(6)), rank, entropy]),
});
