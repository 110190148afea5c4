/**
 * The effect of filters on one step's distribution: the arithmetic of decoding/processors, in the browser.
 *
 * The page knows the most probable tokens of a step one by one. It knows the number of the others, their total probability and,
 * from the entropy of the whole distribution, how evenly they share it. Two groups of equally probable tokens stand in for them:
 * some are as probable as the last known token, which is the most they can be, and the rest share evenly. The size of each group
 * follows from the entropy, so that a small change of the temperature is exact to first order. Whatever does not depend on the
 * others, such as a cut among the known tokens, is exact.
 *
 * @typedef {{p: number, n: number}} Group tokens of one probability each, and how many; 0 once they are removed
 * @typedef {{stage: string, value: number}} Filter
 * @typedef {{text: string, chosen: boolean, before: number, after: number}} Bar
 * @typedef {{bars: Bar[], rest: {before: number, after: number}, isEstimate: boolean}} Picture
 */

/** @import { Candidate, Step } from '../inspector/step.js' */

const VISIBLE = 0.005; // a share that may be wrong by more than this is marked as an estimate
const ROUNDING = 1e-9; // a smaller rest is a rounding error

/** @type {Record<string, (groups: Group[], value: number) => Group[]>} groups, most probable first, whose probabilities sum to 1 */
const FILTERS = {
  greedy: (groups) => groups.map(({ p, n }, index) => ({ p, n: index === 0 ? n : 0 })),
  temperature(groups, temperature) {
    const highest = highestOf(groups); // against which no power underflows
    return groups.map(({ p, n }) => ({ p: (p / highest) ** (1 / temperature), n }));
  },
  top_k(groups, k) {
    let [left, edge] = [k, 0];
    return groups.map(({ p, n }) => {
      if (left <= 0) return { p, n: n === 1 && p === edge ? n : 0 }; // a token that ties with the last one stays
      const kept = Math.min(n, left);
      left -= kept;
      edge = p;
      return { p, n: kept };
    });
  },
  top_p(groups, mass) {
    let before = 0;
    return groups.map(({ p, n }, index) => {
      const needed = Math.ceil((mass - before) / p);
      const kept = Math.min(n, Math.max(index === 0 ? 1 : 0, needed));
      before += p * n;
      return { p, n: kept };
    });
  },
  min_p: (groups, share) => atLeast(groups, share * highestOf(groups)),
  epsilon_cutoff: atLeast,
  top_a: (groups, share) => atLeast(groups, share * highestOf(groups) ** 2),
};

/** @param {string} stage of the settings @returns {boolean} whether a step says enough to draw what it does */
export const isDrawable = (stage) => Object.hasOwn(FILTERS, stage);

/**
 * The known tokens before and after the filters.
 * @param {Step} step
 * @param {Filter[] | null} filters in their order, drawable ones; null for those that the step was recorded with
 * @returns {Picture | null} null where no candidates were recorded
 */
export function pictureOf(step, filters) {
  const known = knownOf(step);
  if (!known.listed.length) return null;
  const shares = filters ? filtered(known, filters, known.evenness) : known.listed.map(({ finalShare }) => finalShare);
  const [low, high] = [0, 1].map((evenness) => (filters ? filtered(known, filters, evenness) : shares));
  const isEstimate = shares.some((share, index) =>
    Math.max(Math.abs(share - low[index]), Math.abs(share - high[index])) > VISIBLE);
  const bars = known.listed.map(({ text, isChosen }, index) =>
    ({ text, chosen: isChosen, before: known.probabilities[index], after: shares[index] }));
  const rest = filters ? 1 - sum(shares) : step.rest.at(-1) + sum(known.unlisted.map(({ finalShare }) => finalShare));
  return { bars, rest: { before: known.mass, after: rest < ROUNDING ? 0 : rest }, isEstimate };
}

/**
 * The share of each known token if the others share their probability with an evenness from 0 to 1. The true share lies between
 * the two extremes.
 * @param {Step} step @param {Filter[]} filters @param {number} evenness @returns {number[]}
 */
export const sharesOf = (step, filters, evenness) => filtered(knownOf(step), filters, evenness);

/** @param {Step} step */
function knownOf({ stages, candidates, rest, kept, entropy, rank }) {
  const base = stages[1] === 'suppress_tokens' ? 1 : 0; // tokens that a model may never say are no candidates
  /** @param {Candidate} candidate */
  const at = ({ probabilities }) => probabilities[base];
  // between the other candidates and a chosen token that ranks behind them there may be any number of tokens
  const listed = candidates.filter((candidate) => at(candidate) > 0 && !(candidate.isChosen && rank > candidates.length))
    .toSorted((one, other) => at(other) - at(one) || one.id - other.id);
  const probabilities = listed.map(at);
  const unlisted = candidates.filter((candidate) => !listed.includes(candidate));
  const mass = rest[base] + sum(unlisted.map(at));
  const count = kept[base] - listed.length;
  const top = Math.min(probabilities.at(-1) ?? 0, mass);
  const even = Math.min(mass / count, top);
  const nats = entropy[base] * Math.LN2 + sum(probabilities.map((p) => p * Math.log(p))); // of the others alone
  const [least, most] = [-mass * Math.log(top), -mass * Math.log(even)];
  const evenness = most > least ? Math.min(1, Math.max(0, (nats - least) / (most - least))) : 1;
  return { listed, unlisted, probabilities, mass, top, even, evenness };
}

/** @param {ReturnType<typeof knownOf>} known @param {Filter[]} filters @param {number} evenness */
function filtered({ probabilities, mass, top, even }, filters, evenness) {
  const others = mass > 0 && even > 0
    ? [{ p: top, n: (1 - evenness) * mass / top }, { p: even, n: evenness * mass / even }] : [];
  let groups = whole([...probabilities.map((p) => ({ p, n: 1 })), ...others]);
  for (const { stage, value } of filters) groups = whole(FILTERS[stage](groups, value));
  return groups.slice(0, probabilities.length).map(({ p, n }) => p * n);
}

/** @param {Group[]} groups */
function whole(groups) {
  const total = sum(groups.map(({ p, n }) => p * n));
  return groups.map(({ p, n }) => ({ p: p / total, n }));
}

/** The most probable token stays. @param {Group[]} groups @param {number} least */
function atLeast(groups, least) {
  const highest = highestOf(groups);
  return groups.map(({ p, n }) => ({ p, n: p >= least || p === highest ? n : 0 }));
}

/** @param {Group[]} groups */
const highestOf = (groups) => Math.max(...groups.filter(({ n }) => n > 0).map(({ p }) => p));

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
