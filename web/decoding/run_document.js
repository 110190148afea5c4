/**
 * Writes the run document, "attend.trace/2" (`decoding/run/run_document.py`): the form in which Python saves a run and the
 * page draws it.
 */

import { beforeStop } from './request.js';
import { isDrawn, isSearch } from './settings.js';

/** @typedef {import('../../decoding/run/run_document').RunDocument} RunDocument */
/** @typedef {import('../../decoding/run/run_document').SearchEntry} SearchEntry */
/** @typedef {import('./branch.js').Prefix} Prefix */
/** @typedef {import('./generate.js').Hypothesis} Hypothesis */
/** @typedef {import('./generate.js').Step} Step */
/** @typedef {import('./request.js').Request} Request */
/** @typedef {import('./settings.js').Settings} Settings */

/**
 * A run so far; one that was stopped early has the finish reason "cancelled".
 * @typedef {object} Run
 * @property {string} model its name
 * @property {string} prompt as it was typed
 * @property {import('../text/conversation.js').Message[]} [messages] of a conversation
 * @property {number} dropped how many of these don't fit into the context, and are not read
 * @property {Request} request
 * @property {Prefix} prefix what an earlier run wrote of it
 * @property {Settings} settings
 * @property {Step[]} steps
 * @property {(id: number) => string} label of a token, for display
 * @property {Set<number>} special tokens, which are shown as such
 * @property {{layers: number, heads: number}} shape of the attention
 */

/** A hypothesis and those that it continues, first to last. @param {Step[]} steps @param {Hypothesis} [hypothesis] */
function path(steps, hypothesis) {
  const chain = hypothesis ? [hypothesis] : [];
  // A hypothesis of n tokens was made in the n-th step; it may have ended before the last.
  for (let step = (hypothesis?.tokens.length ?? 0) - 2; step >= 0; step--) chain.unshift(steps[step].hypotheses[chain[0].parent]);
  return chain;
}

/**
 * Every explained token of a run's best text.
 * @param {Run} run
 * @returns {import('../../decoding/run/run_document').StepEntry[]}
 */
export function entriesOf({ prefix, settings, steps }) {
  /** @type {'search' | 'chosen'} */
  const origin = isSearch(settings) ? 'search' : 'chosen';
  return [...prefix.steps, ...path(steps, steps.at(-1)?.best).map(({ choice: { entry } }) => ({ ...entry, origin }))];
}

/** @param {Run} run @returns {RunDocument} */
export function runDocument(run) {
  const { model, prompt, messages, request, prefix, settings, steps, label, special, shape } = run;
  const last = steps.at(-1), sequences = last?.returned ?? [], ids = last?.best.tokens ?? [];
  const search = isSearch(settings) ? steps.map((step) => searchEntry(steps, step)) : [];
  const textOf = (tokens) => beforeStop(request.decode(tokens), settings.stop_texts);
  const entries = entriesOf(run);
  const named = new Set([...request.source, ...request.prompt, ...sequences.flatMap(({ tokens }) => tokens),
    ...entries.flatMap(({ candidates }) => candidates.map(({ id }) => id)), ...search.flatMap(({ beams }) => beams.map(({ id }) => id))]);
  return {
    schema: 'attend.trace/2',
    model,
    prompt: { text: prompt, ids: request.prompt, ...(messages && { messages }) },
    settings,
    seed: isDrawn(settings) ? settings.seed : null,
    text: textOf(ids),
    ids,
    finish_reason: sequences[0]?.finishReason ?? 'cancelled',
    steps: entries,
    labels: Object.fromEntries([...named].toSorted((a, b) => a - b).map((id) => [id, label(id)])),
    special: [...new Set([...request.source, ...request.prompt, ...ids])].filter((id) => special.has(id)).toSorted((a, b) => a - b),
    ...(request.source.length && { source: request.source }),
    ...(request.drawsUsed && { draws_used: request.drawsUsed }),
    ...(search.length && { search }),
    ...(sequences.length > 1 && {
      sequences: sequences.map(({ tokens, score, finalScore, logProbability, finishReason }) => ({
        text: textOf(tokens), ids: tokens, score, final_score: finalScore, log_probability: logProbability, finish_reason: finishReason,
      })),
    }),
    attention: { ...shape, rows: [...prefix.rows, ...path(steps, last?.best).map(({ choice }) => attentionRow(choice.attention))] },
  };
}

/** @param {Step[]} steps @param {Step} step @returns {SearchEntry} */
function searchEntry(steps, { hypotheses, best, returned, dropped }) {
  const beamIndex = ({ tokens }) => {
    const step = tokens.length - 1, name = tokens.join();
    return { step, index: steps[step].hypotheses.findIndex((each) => each.tokens.join() === name) };
  };
  return {
    beams: hypotheses.map(({ tokens, parent, score, stepScore, logProbability, finalScore, finishReason }) => ({
      id: tokens.at(-1), parent, score, step_score: stepScore, log_probability: logProbability, final_score: finalScore,
      finish_reason: finishReason, group: 0,
    })),
    best: best ? beamIndex(best) : null,
    returned: returned.map(beamIndex),
    dropped: dropped.map((each) => ({ ...beamIndex(each), reason: each.reason, row: each.row, score: each.score, to_beat: each.toBeat })),
  };
}

/**
 * A pass's attention, (layers, heads, keys), as base64 of bytes: 255 times the square root of each weight.
 * @param {Float32Array} weights
 */
export function attentionRow(weights) {
  let binary = '';
  for (const weight of weights) binary += String.fromCharCode(Math.round(255 * Math.sqrt(weight)));
  return btoa(binary);
}
