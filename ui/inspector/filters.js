/**
 * The filters in the order they ran: one row per stage, with candidates left, probability removed and entropy.
 */

/** @import { Step } from './step.js' */

import { around, make, makeTable } from '../kit/js/dom.js';
import { counted, percent, stageName } from '../kit/js/text.js';
import { barCell, headCells, part } from './step.js';

/** @type {import('./step.js').ColumnHead[]} */
const STAGE_COLUMNS = [
  { text: 'Filter', term: 'filter' },
  { text: 'Candidates left', help: 'How many tokens can still be chosen after this filter', term: 'candidate' },
  { text: 'Probability removed', help: 'Share of the remaining probability that this filter removed', term: 'probability' },
  {
    text: 'Entropy (bits)', help: 'How uncertain the choice still is: each bit doubles the number of equally likely tokens',
    term: 'entropy',
  },
];

/** @param {Step} step @returns {Node[]} empty if no filter changed the model's distribution */
export function stepStages(step) {
  if (step.stages.length < 2) return [];
  const sentence = make('p', { class: 'at-sm at-quiet at-filter-effect', 'aria-live': 'polite', text: 'Point at a filter to see what it did.' });
  const rows = step.stages.map((stage, index) => stageRow(step, index));
  const table = makeTable({ class: 'at-grid at-stages' }, headCells(STAGE_COLUMNS), rows);
  const explain = (event) => {
    const row = around(event, 'tbody tr');
    if (row) sentence.textContent = row.dataset.sentence;
  };
  table.addEventListener('pointerover', explain);
  table.addEventListener('focusin', explain);
  return [part('Filters, step by step', table, sentence)];
}

/** @param {Step} step @param {number} index */
function stageRow(step, index) {
  const most = Math.max(...step.entropy) || 1;
  return make('tr', { tabindex: 0, 'data-sentence': stageSentence(step, index) },
    make('th', { scope: 'row', text: stageName(step.stages[index]) }),
    // The scale is logarithmic, since forty of 4,096 tokens would be invisible on a linear one.
    barCell(counted.format(step.kept[index]), Math.log(step.kept[index] + 1) / Math.log(step.kept[0] + 1)),
    barCell(percent(1 - step.mass[index]), 1 - step.mass[index]),
    barCell(step.entropy[index].toFixed(2), step.entropy[index] / most));
}

/** @param {Step} step @param {number} index */
function stageSentence(step, index) {
  const bits = step.entropy[index];
  if (index === 0) {
    return `The model gives each of its ${counted.format(step.kept[0])} tokens a probability. It is as uncertain as a `
      + `choice between ${(2 ** bits).toFixed(1)} equally likely ones.`;
  }
  const name = capital(stageName(step.stages[index]));
  const removed = step.kept[index - 1] - step.kept[index];
  if (removed > 0) {
    return `${name} removed ${counted.format(removed)} of ${counted.format(step.kept[index - 1])} tokens, which had `
      + `${percent(1 - step.mass[index])} of the probability.`;
  }
  const before = step.entropy[index - 1];
  if (Math.abs(bits - before) < 0.005) return `${name} removed no tokens and left the entropy unchanged.`;
  return `${name} removed no tokens, but ${bits < before ? 'sharpened' : 'flattened'} the distribution: its entropy `
    + `went from ${before.toFixed(2)} to ${bits.toFixed(2)} bits.`;
}

/** @param {string} words */
const capital = (words) => words[0].toUpperCase() + words.slice(1);
