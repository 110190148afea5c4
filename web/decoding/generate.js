/**
 * The decoding loop, for every strategy. Whoever runs it can stop after each step, and between the parts of a long prompt.
 */

import { BeamSearch } from './beams.js';
import { Sampling } from './sampling.js';
import { isSearch } from './settings.js';

/**
 * One continuation: living, or finished in this step.
 * @typedef {object} Hypothesis
 * @property {number[]} tokens generated so far
 * @property {number} score the search's own sum, before any length penalty (nats)
 * @property {number} stepScore what the newest token added to it
 * @property {number} logProbability the model's own sum (nats)
 * @property {number} parent its index among the previous step's living hypotheses
 * @property {import('./recorder.js').Choice} choice its newest token
 * @property {import('./request.js').FinishReason | null} finishReason null while it lives
 * @property {number | null} finalScore of a finished one in a search: its rank, length penalty included
 */
/**
 * A hypothesis that a search has dropped, and why.
 * @typedef {{reason: import('../../decoding/run/run_document').DropReason, tokens: number[], row: number | null, score: number | null, toBeat: number | null}}
 *  Dropped
 */
/**
 * What was decided, and what to feed next: a token for each row of the next pass, and the row that it continues.
 * @typedef {{hypotheses: Hypothesis[], best: Hypothesis, feed: number[], parents: number[], returned: Hypothesis[], dropped: Dropped[]}} Step
 */

/**
 * @param {import('../model/transformer.js').Transformer} model
 * @param {import('./request.js').Request} request
 * @param {import('./settings.js').Settings} settings complete ones
 * @returns {Generator<Step | null>} null while the prompt is being read
 */
export function* generate(model, request, settings) {
  const strategy = isSearch(settings) ? new BeamSearch(request, settings) : new Sampling(request, settings);
  let forward = yield* model.prefill(request.source.length ? request.source : request.prompt);
  for (;;) {
    const step = strategy.advance(forward);
    yield step;
    if (step.returned.length) return;
    forward = model.step(step.feed, step.parents);
  }
}
