/**
 * The numbers behind the inspector's plots, as tables to read and to copy.
 */

/** @import { Step } from './step.js' */
/** @import { Sheet } from '../kit/js/data.js' */
/** @import { Search } from './beams/search.js' */

import { stageName } from '../kit/js/text.js';
import { chosenOf, probabilityOf, ranked } from './step.js';

/** @param {Step} step @returns {Sheet} */
export function candidateSheet(step) {
  const rows = step.candidates.map(({ id, text, isChosen, probabilities, removedBy }) => {
    const fate = removedBy ? `removed by ${stageName(removedBy)}` : '';
    return [id, JSON.stringify(text), ...probabilities, isChosen ? 'chosen' : fate];
  });
  /** @type {[string, number[]][]} */
  const rest = [['candidates left', step.kept], ['probability kept', step.mass], ['entropy, bits', step.entropy]];
  return {
    title: 'Probabilities', head: ['id', 'token', ...step.stages.map(stageName), 'outcome'],
    rows: [...rows, ['', 'all others', ...step.rest, ''], ...rest.map(([name, numbers]) => ['', name, ...numbers, ''])],
  };
}

/**
 * A row for each token that has a step.
 * @param {(Step | undefined)[]} steps by token number @param {number} first number of the first generated token
 * @returns {Sheet}
 */
export function tokenSheet(steps, first) {
  const rows = Array.from(steps.slice(first), (step, index) => { // map would leave out gaps
    if (!step) return [index + 1, '', '', '', '', '', ''];
    const [best] = ranked(step.candidates, 0);
    return [index + 1, JSON.stringify(chosenOf(step).text), probabilityOf(step), step.rank, step.entropy[0], JSON.stringify(best.text), best.modelShare];
  });
  return { title: 'Tokens', head: ['number', 'token', 'probability', 'rank', 'entropy, bits', 'most probable token', 'its probability'], rows };
}

/** @param {Search} search @returns {Sheet} */
export function beamSheet(search) {
  const rows = Array.from({ length: search.length }, (_, step) => search.order(step).map((index, rank) => {
    const beam = search.beam({ step, index });
    const from = step ? search.order(step - 1).indexOf(beam.parent) + 1 : '';
    return [step + 1, rank + 1, JSON.stringify(beam.text), beam.step_score, beam.score, beam.log_probability,
      beam.final_score ?? '', from, search.fate({ step, index })];
  }));
  return {
    title: 'Beams',
    head: ['step', 'rank', 'token', 'token score', 'score', 'log-probability', 'final score', 'from', 'outcome'],
    rows: rows.flat(),
  };
}

/** @param {Float32Array} weights @param {(key: number) => string} textOf @returns {Sheet} */
export function attentionSheet(weights, textOf) {
  return {
    title: 'Attention', head: ['token number', 'token', 'weight'],
    rows: Array.from(weights, (weight, key) => [key + 1, JSON.stringify(textOf(key)), Number(weight.toPrecision(3))]),
  };
}
