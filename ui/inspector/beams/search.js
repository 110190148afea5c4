/**
 * A beam search: the hypotheses of each step and their outcomes. Draws nothing.
 *
 * @typedef {ReturnType<typeof makeSearch>} Search
 */

/** @import { BeamEntry, BeamIndex, DropEntry } from '../../../decoding/run/run_document' */
/** @import { SearchValue } from '../inspector_contract' */

import { signed } from '../../kit/js/text.js';

export function makeSearch() {
  /** @type {(BeamEntry & {text: string})[][]} */
  const steps = [];
  let first = 0;
  /** @type {Map<string, DropEntry>} by step and index */
  const dropped = new Map();
  /** @type {BeamIndex | null} the best text */
  let best = null;
  /** @type {BeamIndex[]} the returned texts, best first; none before the search is over */
  let returned = [];
  /** @type {number[]} by step: the index of the leading text's hypothesis */
  let bestPath = [];
  /** @type {Set<number>[]} by step: the hypotheses that finished, or that a remaining one continues */
  let alive = [];

  /**
   * @param {SearchValue | null} value @param {Record<string, string>} [labels] of its tokens
   * @returns {boolean} false if earlier steps are missing
   */
  function put(value, labels = {}) {
    if (value && value.since > steps.length) return false;
    steps.length = value ? value.since : 0;
    steps.push(...(value?.steps ?? []).map(({ beams }) => beams.map((beam) => ({ ...beam, text: labels[beam.id] ?? '' }))));
    first = value?.first ?? 0;
    const end = value?.steps.at(-1);
    if (end || !value) [best, returned] = [end?.best ?? null, end?.returned ?? []];
    if (!steps.length || !value?.since) dropped.clear();
    for (const drop of value?.steps.flatMap((step) => step.dropped) ?? []) dropped.set(`${drop.step}/${drop.index}`, drop);
    trace();
    return true;
  }

  function trace() {
    bestPath = [];
    const end = steps.length - 1;
    let { step, index } = best ?? { step: -1, index: 0 };
    for (; step >= 0; step -= 1) {
      bestPath[step] = index;
      index = steps[step][index].parent;
    }
    alive = steps.map(() => new Set());
    for (step = end; step >= 0; step -= 1) {
      steps[step].forEach((beam, number) => {
        if (step === end || (beam.final_score !== null && !dropped.has(`${step}/${number}`))) alive[step].add(number);
        if (step && alive[step].has(number)) alive[step - 1].add(beam.parent);
      });
    }
  }

  /** The indices of a step's hypotheses, best first. @param {number} step */
  const order = (step) => [...steps[step].keys()].toSorted((one, other) => steps[step][other].score - steps[step][one].score);

  /** @param {BeamIndex} spot @returns {string[]} its tokens, the newest last */
  function tokens({ step, index }) {
    /** @type {string[]} */
    const texts = [];
    for (; step >= 0; step -= 1) {
      texts.push(steps[step][index].text);
      index = steps[step][index].parent;
    }
    return texts.toReversed();
  }

  /** @param {BeamIndex} spot @returns {string} in words */
  function fate({ step, index }) {
    const drop = dropped.get(`${step}/${index}`);
    const rank = returned.findIndex((each) => each.step === step && each.index === index);
    if (rank >= 0 && returned.length > 1) return `returned, ${ordinal(rank + 1)} of ${returned.length}`;
    const isOver = returned.length > 0;
    if (best?.step === step && best.index === index) return isOver ? 'returned' : 'in the lead';
    if (bestPath[step] === index) return isOver ? 'begins the returned text' : 'in the lead';
    if (drop) return dropWords(drop);
    if (steps[step][index].final_score !== null) return 'kept among the best';
    return alive[step].has(index) ? 'followed' : 'dropped later';
  }

  return {
    put, order, tokens, fate,
    /** @param {BeamIndex} spot */
    beam: ({ step, index }) => steps[step][index],
    /** @param {BeamIndex} spot */
    leads: ({ step, index }) => bestPath[step] === index,
    /** @param {BeamIndex} spot */
    survives: ({ step, index }) => alive[step].has(index),
    get first() { return first; },
    get length() { return steps.length; },
  };
}

/** Why a hypothesis was dropped, in words. @param {DropEntry} drop */
function dropWords({ reason, score, to_beat: toBeat }) {
  const needed = score === null || toBeat === null ? '' : `: ${nats(score)}, needed ${nats(toBeat)}`;
  switch (reason) {
    case 'outscored': return `outscored${needed}`;
    case 'not drawn': return 'dropped: no continuation was drawn';
    case 'ended': return 'all its continuations finished';
    case 'search over': return 'unfinished when the search ended';
    default: return `outranked${needed}`;
  }
}

/** @param {number} rank from 1 to 8, the most beams there are */
const ordinal = (rank) => `${rank}${['st', 'nd', 'rd'][rank - 1] ?? 'th'}`;

/** @param {number} score a log-probability */
export const nats = (score) => (Math.abs(score) < 0.005 ? '0.00' : signed(score.toFixed(2)));
