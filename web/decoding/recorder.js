/**
 * Turns the logits of one row after each stage into what the run document says of a token: every candidate's probability
 * after every stage, and that of the rest.
 *
 * Shapes: V vocabulary.
 */

import { bestTokens, massKept, probabilitiesOf, rankOf, remaining, summarize } from './distribution.js';

/** @typedef {import('../../decoding/run/run_document').StepEntry} StepEntry */
/**
 * A token, the distribution it was chosen from, and where the model looked.
 * @typedef {{entry: Omit<StepEntry, 'origin'>, attention: Float32Array}} Choice
 */

export class Recording {
  /**
   * @param {string[]} names of the stages, the model first
   * @param {Float32Array[]} stages (V,) each
   * @param {number} count of the candidates
   * @param {Float32Array} attention
   */
  constructor(names, stages, count, attention) {
    this.names = names;
    this.stages = stages;
    this.attention = attention;
    this.summaries = stages.map(summarize);
    this.best = bestTokens(stages[0], count);
  }

  /** In nats; stage 0 is the model's own, -1 the last one. @param {number} token @param {number} stage */
  logProbability(token, stage) {
    return this.stages.at(stage)[token] - this.summaries.at(stage).logTotal;
  }

  /** The tokens that survived every stage, by id, and their probabilities. */
  finalProbabilities() {
    const final = this.stages.at(-1), ids = remaining(final);
    return { ids, probabilities: probabilitiesOf(Float32Array.from(ids, (id) => final[id])) };
  }

  /** The record of having chosen this token. @param {number} token @param {number | null} draw @returns {Choice} */
  choice(token, draw) {
    const { best, stages, summaries } = this, place = best.indexOf(token);
    const ids = place < 0 ? [...best, token] : best;
    const probabilities = ids.map((id) => stages.map((_, stage) => Math.exp(this.logProbability(id, stage))));
    const entry = {
      id: token,
      rank: place < 0 ? rankOf(stages[0], token) : place + 1,
      draw,
      stages: this.names,
      kept: summaries.map(({ kept }) => kept),
      mass: summaries.map(({ kept }, number) => {
        const before = summaries[number - 1];
        return !number || kept === before.kept ? 1 : massKept(stages[number - 1], before.logTotal, stages[number]);
      }),
      entropy: summaries.map(({ entropy }) => entropy),
      candidates: ids.map((id, candidate) => ({ id, probabilities: probabilities[candidate] })),
      rest: summaries.map(({ kept }, stage) => {
        const known = probabilities.map((each) => each[stage]);
        const others = kept - ids.filter((id) => stages[stage][id] > -Infinity).length;
        return others ? Math.max(0, 1 - known.reduce((sum, each) => sum + each, 0)) : 0; // exactly 0 where no other remains
      }),
    };
    return { entry, attention: this.attention };
  }
}
