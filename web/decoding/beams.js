/**
 * Beam search, and beams that sample. Every step takes the best continuations of all living texts together, or draws some
 * of them. Those that end go to the list of finished texts, the best of the others live on, and the search is over when
 * none of them could rank among the finished ones any more.
 *
 * Stages run on log-probabilities, and their sum is not renormalised. Shapes: R living rows, V vocabulary.
 */

import { bestTokens, probabilitiesOf, summarize } from './distribution.js';
import { FinishedTexts } from './finished_texts.js';
import { buildChain, runChain } from './processors/chain.js';
import { UniformStream } from './random.js';
import { Recording } from './recorder.js';
import { finishReason, room } from './request.js';
import { actsAs, isDrawn } from './settings.js';

/** @typedef {import('./generate.js').Hypothesis} Hypothesis */
/** @typedef {import('./generate.js').Dropped} Dropped */
/** @typedef {import('./generate.js').Step} Step */
/** @typedef {import('./request.js').Request} Request */
/** @typedef {import('./settings.js').Settings} Settings */
/** @typedef {import('../model/transformer.js').Forward} Forward */
/**
 * One more token for one of the rows.
 * @typedef {{score: number, row: number, token: number, draw: number | null, reason:
 *  import('./request.js').FinishReason | null}} Continuation
 */

/**
 * The indices that several draws land on, each among the renormalised rest that the earlier ones left; highest first,
 * ties by index.
 * @param {number[]} draws
 * @param {Float64Array} probabilities
 */
function drawWithoutReplacement(draws, probabilities) {
  const indices = [...probabilities.keys()].filter((index) => probabilities[index] > 0).toSorted((a, b) => probabilities[b] - probabilities[a]);
  const left = indices.map((index) => probabilities[index]);
  return draws.slice(0, indices.length).map((draw) => {
    const target = draw * left.reduce((sum, each) => sum + each, 0);
    let sum = 0, place = left.findIndex((each) => target < (sum += each));
    if (place < 0) place = left.findLastIndex((each) => each > 0);
    left[place] = 0;
    return indices[place];
  });
}

export class BeamSearch {
  /** @param {Request} request @param {Settings} settings */
  constructor(request, settings) {
    const ends = request.endTokens.length, drawn = isDrawn(settings);
    this.request = request;
    this.settings = settings;
    this.chain = buildChain(actsAs(settings), settings, request, drawn ? Math.max(2, 1 + ends) : 1);
    this.names = ['model', ...this.chain.map(({ name }) => name)];
    this.finished = new FinishedTexts(settings, room(request, settings));
    // Enough continuations that all beams could live on even if every row's end tokens were the best.
    this.continuationCount = Math.max(2, 1 + ends) * settings.num_beams;
    this.stream = drawn ? new UniformStream(settings.seed, request.drawsUsed * this.continuationCount) : null;
    /** @type {{tokens: number[], score: number, logProbability: number}[]} */
    this.beams = [{ tokens: [], score: 0, logProbability: 0 }]; // before the first step, the prompt
  }

  /** @param {Forward} forward @returns {Step} */
  advance(forward) {
    const { beams, finished, settings } = this, size = settings.num_beams;
    const stages = forward.logits.map((logits, row) => {
      const { logTotal } = summarize(logits), context = { prompt: this.request.prompt, tokens: beams[row].tokens };
      return [logits, ...runChain(this.chain, logits.map((logit) => logit - logTotal), context)];
    }); // (R, 2 + stages, V): the logits, the log-probabilities, and the output of each stage
    const totals = stages.map((each, row) => each.at(-1).map((logit) => logit + beams[row].score)); // (R, V)
    const continuations = this.#continuations(totals);
    // A continuation that ends counts only if it is among the first; of the others, as many as there are beams live on.
    const ending = continuations.slice(0, size).filter(({ reason }) => reason);
    const goingOn = continuations.filter(({ reason }) => !reason).toSorted((a, b) => b.score - a.score).slice(0, size);
    const recordings = stages.map(([logits, , ...outputs], row) => (
      [...goingOn, ...ending].some((each) => each.row === row)
        ? new Recording(this.names, [logits, ...outputs], settings.top_candidates, forward.attention[row]) : null));

    /** @param {Continuation} continuation @returns {Hypothesis} */
    const hypothesis = ({ score, row, token, draw, reason }) => ({
      tokens: [...beams[row].tokens, token],
      score,
      stepScore: stages[row].at(-1)[token],
      logProbability: beams[row].logProbability + recordings[row].logProbability(token, 0),
      parent: row,
      choice: recordings[row].choice(token, draw),
      finishReason: reason,
      finalScore: reason && finished.finalScore(score, beams[row].tokens.length + 1),
    });
    const living = goingOn.map(hypothesis), ended = ending.map(hypothesis);
    const outranked = finished.add(ended);
    const dropped = [...this.#notContinued(living, ended, totals, continuations), ...outranked];
    if (living.length && !finished.closes(living[0])) {
      this.beams = living;
      const next = { feed: living.map(({ tokens }) => tokens.at(-1)), parents: living.map(({ parent }) => parent) };
      return { hypotheses: [...living, ...ended], best: living[0], ...next, returned: [], dropped };
    }
    const returned = finished.kept.slice(0, settings.num_return_sequences);
    dropped.push(...living.map((open) => finished.closed(open)));
    return { hypotheses: [...living, ...ended], best: returned[0], feed: [], parents: [], returned, dropped };
  }

  /**
   * The best continuations of all rows together, best first; or the drawn ones, in the order of the draws.
   * @param {Float32Array[]} totals (R, V)
   * @returns {Continuation[]}
   */
  #continuations(totals) {
    const { settings } = this, vocabulary = totals[0].length, size = totals.length * vocabulary;
    const flat = new Float32Array(size); // (R * V,)
    totals.forEach((row, number) => flat.set(row, number * vocabulary));
    const scored = (indices, draws) => indices.flatMap((index, number) => {
      const row = Math.floor(index / vocabulary), token = index % vocabulary;
      if (flat[index] === -Infinity) return [];
      const reason = finishReason([...this.beams[row].tokens, token], this.request, settings);
      return [{ score: flat[index], row, token, draw: draws?.[number] ?? null, reason }];
    });
    if (this.stream) {
      const draws = Array.from({ length: this.continuationCount }, () => this.stream.next());
      return scored(drawWithoutReplacement(draws, probabilitiesOf(flat)), draws);
    }
    for (let count = Math.min(this.continuationCount, size); ; count = Math.min(4 * count, size)) {
      const continuations = scored(bestTokens(flat, count), null);
      const enough = continuations.filter(({ reason }) => !reason).length >= settings.num_beams || continuations.length < count || count === size;
      // Stop texts may end more of them than there are end tokens.
      if (enough || !settings.stop_texts.length || this.beams[0].tokens.length + 1 >= room(this.request, settings)) return continuations;
    }
  }

  /**
   * The living texts of the previous step that nothing continues.
   * @param {Hypothesis[]} living
   * @param {Hypothesis[]} ended
   * @param {Float32Array[]} totals (R, V)
   * @param {Continuation[]} continuations
   * @returns {Dropped[]}
   */
  #notContinued(living, ended, totals, continuations) {
    if (!this.beams[0].tokens.length) return []; // before the first token there is no hypothesis
    const toBeat = Math.min(...(living.length ? living : ended).map(({ score }) => score));
    return this.beams.flatMap(({ tokens }, row) => {
      if (living.some(({ parent }) => parent === row)) return [];
      const drawn = !this.stream || continuations.some((each) => each.row === row);
      const open = totals[row].map((total, id) => (living.length && this.request.endTokens.includes(id) ? -Infinity : total));
      const [best] = bestTokens(open, 1);
      const reason = ended.some(({ parent }) => parent === row) ? 'ended' : drawn ? 'outscored' : 'not drawn';
      return [{ reason, tokens, row, score: best === undefined ? null : open[best], toBeat }];
    });
  }
}
