/**
 * A run that continues an earlier one, after its last token or after another token in the place of a chosen one: what it begins
 * with.
 */

/** @typedef {import('../../decoding/run/run_document').RunDocument} RunDocument */
/** @typedef {import('../../decoding/run/run_document').StepEntry} StepEntry */
/**
 * The run to continue from, and the step whose token is exchanged: none if `place` is the number of its steps.
 * @typedef {{run: RunDocument, place: number, token: number | null}} Branch
 */
/** The explained tokens at the end of a prompt, and their attention. @typedef {{steps: StepEntry[], rows: string[]}} Prefix */

/** @type {Prefix} of a run that begins with a text of the visitor */
export const NO_PREFIX = { steps: [], rows: [] };

/**
 * The prompt of the new run, the explained tokens at its end included.
 * @param {Branch} branch
 * @returns {{prompt: number[], prefix: Prefix}}
 */
export function branchOff({ run: { prompt, ids, steps, attention }, place, token }) {
  const typed = [...prompt.ids, ...ids].slice(0, -steps.length);
  const kept = [...steps.slice(0, place), ...steps.slice(place, place + 1).map((step) => exchanged(step, token))];
  return { prompt: [...typed, ...kept.map(({ id }) => id)], prefix: { steps: kept, rows: attention.rows.slice(0, place + 1) } };
}

/** The same distribution with another of its candidates, chosen by hand. @param {StepEntry} step @param {number} token @returns {StepEntry} */
function exchanged(step, token) {
  if (token === step.id) return { ...step, origin: 'taken', draw: null };
  const isExtra = step.rank > step.candidates.length; // it was listed only because it was chosen; now it belongs to the rest
  const candidates = isExtra ? step.candidates.filter(({ id }) => id !== step.id) : step.candidates;
  const before = step.candidates.find(({ id }) => id === step.id).probabilities;
  const rest = isExtra ? step.rest.map((mass, stage) => mass + before[stage]) : step.rest;
  return { ...step, id: token, origin: 'taken', rank: 1 + candidates.findIndex(({ id }) => id === token), draw: null, candidates, rest };
}
