/**
 * A beam search: the hypotheses of each step and their outcomes. Draws nothing.
 *
 * @typedef {{step: number, index: number}} Spot one hypothesis
 * @typedef {ReturnType<typeof makeSearch>} Search
 */

/** @import { BeamRecord, DropRecord, SearchValue } from '../inspector_contract' */

import { signed } from '../../kit/js/text.js';

export const TOKEN = 0;
export const ADDED = 1;
export const SUM = 2;
export const PARENT = 4;
export const FINAL = 5;

export function makeSearch() {
  /** @type {BeamRecord[][]} */
  const steps = [];
  let first = 0;
  /** @type {Map<string, DropRecord>} by step and index */
  const dropped = new Map();
  /** @type {[number, number] | null} the best text */
  let best = null;
  let over = false;
  /** @type {[number, number][]} those that are returned, best first */
  let returned = [];
  /** @type {number[]} by step: the index of the leading text's hypothesis */
  let bestPath = [];
  /** @type {Set<number>[]} by step: places that ended, or from which what is left comes */
  let alive = [];

  /** @param {SearchValue | null} value @returns {boolean} false where steps before it are missing */
  function put(value) {
    if (value && value.since > steps.length) return false;
    steps.length = value ? value.since : 0;
    steps.push(...(value?.steps ?? []));
    first = value?.first ?? 0;
    best = value?.best ?? null;
    over = value?.over ?? false;
    returned = value?.returned ?? [];
    if (!steps.length || !value?.since) dropped.clear();
    for (const [step, index, ...why] of value?.dropped ?? []) dropped.set(`${step}/${index}`, [step, index, ...why]);
    trace();
    return true;
  }

  function trace() {
    bestPath = [];
    const end = steps.length - 1;
    let [step, index] = best ?? [-1, 0];
    for (; step >= 0; step -= 1) {
      bestPath[step] = index;
      index = steps[step][index][PARENT];
    }
    alive = steps.map(() => new Set());
    for (step = end; step >= 0; step -= 1) {
      steps[step].forEach((beam, at) => {
        if (step === end || (beam[FINAL] !== null && !dropped.has(`${step}/${at}`))) alive[step].add(at);
        if (step && alive[step].has(at)) alive[step - 1].add(beam[PARENT]);
      });
    }
  }

  /** @param {number} step @returns {number[]} places, best first */
  const order = (step) => [...steps[step].keys()].toSorted((a, b) => steps[step][b][SUM] - steps[step][a][SUM]);

  /** @param {Spot} spot @returns {string[]} its tokens, the newest last */
  function tokens({ step, index }) {
    /** @type {string[]} */
    const texts = [];
    for (let at = index; step >= 0; step -= 1) {
      texts.unshift(steps[step][at][TOKEN]);
      at = steps[step][at][PARENT];
    }
    return texts;
  }

  /** @param {Spot} spot @returns {string} in words */
  function fate({ step, index }) {
    const drop = dropped.get(`${step}/${index}`);
    const rank = returned.findIndex(([at, which]) => at === step && which === index);
    if (rank >= 0 && returned.length > 1) return `returned, ${ordinal(rank + 1)} of ${returned.length}`;
    if (best && best[0] === step && best[1] === index) return over ? 'returned' : 'in the lead';
    if (bestPath[step] === index) return over ? 'begins the returned text' : 'in the lead';
    if (drop) return dropWords(drop);
    if (steps[step][index][FINAL] !== null) return 'kept among the best';
    return alive[step].has(index) ? 'followed' : 'dropped later';
  }

  return {
    put, order, tokens, fate,
    /** @param {Spot} spot */
    beam: ({ step, index }) => steps[step][index],
    /** @param {Spot} spot */
    leads: ({ step, index }) => bestPath[step] === index,
    /** @param {Spot} spot */
    survives: ({ step, index }) => alive[step].has(index),
    get first() { return first; },
    get length() { return steps.length; },
  };
}

/** @param {DropRecord} fate why a hypothesis was dropped, in words */
function dropWords([, , reason, score, toBeat]) {
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
