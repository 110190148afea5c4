/**
 * What the settings did: a row a stage in the order they ran, with the tokens it left, the mass it kept, the entropy.
 */

const STAGE_COLUMNS = [
  ['Stage'],
  ['Tokens left', 'How many tokens can still be chosen after it'],
  ['Mass kept', 'Of the probability that the stage before had left, the share that this one kept'],
  ['Entropy (bits)', 'How unsure the choice is after it: each bit doubles the number of tokens in question'],
];

/** @param {Step} step @returns {Node[]} nothing where the model's own distribution was used as it is */
function stepStages(step) {
  if (step.stages.length < 2) return [];
  const said = make('p', { class: 'at-said', 'aria-live': 'polite', text: 'Point at a stage to read what it did.' });
  const body = make('tbody', {}, ...step.stages.map((stage, place) => stageRow(step, place)));
  const tell = (event) => {
    const row = event.target.closest('tr');
    if (row) said.textContent = row.dataset.said;
  };
  body.addEventListener('pointerover', tell);
  body.addEventListener('focusin', tell);
  return [part('What the settings did',
    make('table', { class: 'at-grid at-stages' },
      make('thead', {}, make('tr', {}, ...headCells(STAGE_COLUMNS))), body),
    said)];
}

/** @param {Step} step @param {number} place */
function stageRow(step, place) {
  const most = Math.max(...step.entropy) || 1;
  return make('tr', { tabindex: 0, 'data-said': stageSentence(step, place) },
    make('th', { scope: 'row', text: stageName(step.stages[place]) }),
    // of 4,096 tokens the last forty would be a bar of no width: it goes by the number of digits
    barCell(counted.format(step.kept[place]), Math.log(step.kept[place] + 1) / Math.log(step.kept[0] + 1)),
    barCell(percent(step.mass[place]), step.mass[place]),
    barCell(step.entropy[place].toFixed(2), step.entropy[place] / most));
}

/** @param {Step} step @param {number} place */
function stageSentence(step, place) {
  const bits = step.entropy[place];
  if (place === 0) {
    return `The model gives all of its ${counted.format(step.kept[0])} tokens a probability; it is as unsure as `
      + `between ${(2 ** bits).toFixed(1)} equally likely ones.`;
  }
  const name = capital(stageName(step.stages[place]));
  const removed = step.kept[place - 1] - step.kept[place];
  if (removed > 0) {
    return `${name} removed ${counted.format(removed)} of ${counted.format(step.kept[place - 1])} tokens, which held `
      + `${percent(1 - step.mass[place])} of the probability.`;
  }
  const before = step.entropy[place - 1];
  if (Math.abs(bits - before) < 0.005) return `${name} removed no token here and left the entropy as it was.`;
  return `${name} removed no token; it ${bits < before ? 'sharpened' : 'flattened'} the distribution from `
    + `${before.toFixed(2)} to ${bits.toFixed(2)} bits.`;
}

/** @param {string} words */
const capital = (words) => words[0].toUpperCase() + words.slice(1);
