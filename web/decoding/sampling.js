/**
 * Greedy decoding and sampling: one continuation, one token a step. A draw is one uniform number against the cumulative
 * distribution, so it can be shown, and equal seeds give equal draws under every setting.
 */

import { bestTokens } from './distribution.js';
import { buildChain, runChain } from './processors/chain.js';
import { UniformStream } from './random.js';
import { Recording } from './recorder.js';
import { finishReason } from './request.js';
import { actsAs, isDrawn } from './settings.js';

/** @typedef {import('./generate.js').Step} Step */
/** @typedef {import('./request.js').Request} Request */
/** @typedef {import('./settings.js').Settings} Settings */
/** @typedef {import('../model/transformer.js').Forward} Forward */

const SORTED_FIRST = 1e-3; // less probable tokens are only sorted if the draw lies beyond the others

/**
 * The token that a draw lands on. The survivors are sorted by probability, highest first, ties by id; the first whose
 * cumulative sum exceeds the draw is taken (else the last).
 * @param {number} draw
 * @param {{ids: number[], probabilities: Float64Array}} survivors by id
 */
function tokenAt(draw, { ids, probabilities }) {
  /** @param {number[]} places */
  const descending = (places) => places.toSorted((a, b) => probabilities[b] - probabilities[a]); // ties stay by id
  const places = ids.map((_, place) => place);
  let sum = 0;
  const probable = descending(places.filter((place) => probabilities[place] >= SORTED_FIRST));
  const landing = probable.find((place) => draw < (sum += probabilities[place]));
  if (landing !== undefined) return ids[landing];
  const others = descending(places.filter((place) => probabilities[place] < SORTED_FIRST));
  return ids[others.find((place) => draw < (sum += probabilities[place])) ?? [...probable, ...others].at(-1)];
}

export class Sampling {
  /** @param {Request} request @param {Settings} settings */
  constructor(request, settings) {
    this.request = request;
    this.settings = settings;
    this.chain = buildChain(actsAs(settings), settings, request, 1);
    this.names = ['model', ...this.chain.map(({ name }) => name)];
    this.stream = isDrawn(settings) ? new UniformStream(settings.seed, request.drawsUsed) : null;
    /** @type {number[]} */
    this.tokens = [];
    this.score = 0;
    this.logProbability = 0;
  }

  /** Choose the next token. @param {Forward} forward @returns {Step} */
  advance({ logits, attention }) {
    const stages = runChain(this.chain, logits[0], { prompt: this.request.prompt, tokens: this.tokens });
    const recording = new Recording(this.names, stages, this.settings.top_candidates, attention[0]);
    const draw = this.stream?.next() ?? null;
    const token = draw === null ? bestTokens(stages.at(-1), 1)[0] : tokenAt(draw, recording.finalProbabilities());
    const stepScore = recording.logProbability(token, -1);
    this.tokens = [...this.tokens, token];
    this.score += stepScore;
    this.logProbability += recording.logProbability(token, 0);
    const hypothesis = {
      tokens: this.tokens,
      score: this.score,
      stepScore,
      logProbability: this.logProbability,
      parent: 0,
      choice: recording.choice(token, draw),
      finishReason: finishReason(this.tokens, this.request, this.settings),
      finalScore: null,
    };
    const going = hypothesis.finishReason ? { feed: [], parents: [], returned: [hypothesis] } : { feed: [token], parents: [0], returned: [] };
    return { hypotheses: [hypothesis], best: hypothesis, dropped: [], ...going };
  }
}
