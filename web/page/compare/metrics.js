/**
 * The numbers under a card of a comparison, as `ui/compare/results/metrics.py` computes them.
 */

/** @import { RunDocument } from '../../../decoding/run/run_document' */

/** The numbers of a run that was stopped before its first token. */
const NONE = { tokens: 0, tokens_per_second: null, mean_log_probability: null, perplexity: null, mean_entropy: null, distinct_2: null, top_share: null };

/** @param {RunDocument} run @param {number} seconds @returns {Record<string, number | null>} by the names of the metrics */
export function metricsOf({ ids, steps, sequences }, seconds) {
  const count = ids.length;
  if (!count) return NONE;
  /** @param {(step: RunDocument['steps'][number]) => number} number */
  const mean = (number) => steps.reduce((sum, step) => sum + number(step), 0) / count;
  const logProbability = sequences ? sequences[0].log_probability / count
    : mean(({ id, candidates }) => Math.log(candidates.find((candidate) => candidate.id === id).probabilities[0]));
  const pairs = ids.slice(1).map((id, place) => `${ids[place]} ${id}`);
  return {
    tokens: count,
    tokens_per_second: count / seconds,
    mean_log_probability: logProbability,
    perplexity: Math.exp(Math.min(-logProbability, 700)), // beyond it a float overflows
    mean_entropy: mean(({ entropy }) => entropy[0]),
    distinct_2: pairs.length ? new Set(pairs).size / pairs.length : null,
    top_share: mean(({ rank }) => Number(rank === 1)),
  };
}

/** The number of the first token that differs; null where one text begins the other. @param {number[]} ids @param {number[]} reference */
export function firstDifference(ids, reference) {
  const place = ids.findIndex((id, index) => index < reference.length && id !== reference[index]);
  return place < 0 ? null : place;
}
