/**
 * A search of texts: what each of its steps followed, and what became of it. Draws nothing.
 *
 * @typedef {[string, number, number, number, number, number]} Beam newest token, its score, the sum, the model's own
 *   sum (nats), its parent's place in the step before, whether it ended
 * @typedef {{first: number, since: number, steps: Beam[][], returned: [number, number] | null}} SearchValue
 * @typedef {{step: number, place: number}} Spot one hypothesis
 */

const [TOKEN, ADDED, SUM, OWN, PARENT, ENDED] = [0, 1, 2, 3, 4, 5];

function makeSearch() {
  /** @type {Beam[][]} */
  const steps = [];
  let first = 0;
  /** @type {[number, number] | null} */
  let returned = null;
  /** @type {number[]} by step: the place of the leading text's hypothesis */
  let lead = [];
  /** @type {Set<number>[]} by step: places that ended, or from which what is left comes */
  let alive = [];

  /** @param {SearchValue | null} value @returns {boolean} false where steps before it are missing */
  function put(value) {
    if (value && value.since > steps.length) return false;
    steps.length = value ? value.since : 0;
    steps.push(...(value?.steps ?? []));
    first = value?.first ?? 0;
    returned = value?.returned ?? null;
    trace();
    return true;
  }

  function trace() {
    lead = [];
    const end = steps.length - 1;
    let [step, place] = returned ?? [end, 0];
    for (; step >= 0; step -= 1) {
      lead[step] = place;
      place = steps[step][place][PARENT];
    }
    alive = steps.map(() => new Set());
    for (step = end; step >= 0; step -= 1) {
      steps[step].forEach((beam, at) => {
        if (step === end || beam[ENDED]) alive[step].add(at);
        if (step && alive[step].has(at)) alive[step - 1].add(beam[PARENT]);
      });
    }
  }

  /** @param {number} step @returns {number[]} places, best first */
  const order = (step) => [...steps[step].keys()].sort((a, b) => steps[step][b][SUM] - steps[step][a][SUM]);

  /** @param {Spot} spot @returns {string[]} its tokens, the newest last */
  function tokens({ step, place }) {
    const texts = [];
    for (let at = place; step >= 0; step -= 1) {
      texts.unshift(steps[step][at][TOKEN]);
      at = steps[step][at][PARENT];
    }
    return texts;
  }

  /** @param {Spot} spot @returns {string} in words */
  function fate({ step, place }) {
    if (returned && returned[0] === step && returned[1] === place) return 'returned';
    if (steps[step][place][ENDED]) return 'ended';
    if (step === steps.length - 1) return returned ? 'left when the search ended' : 'followed';
    if (lead[step] === place) return returned ? 'returned, longer' : 'leads';
    if (alive[step].has(place)) return 'followed';
    const goesOn = steps[step + 1].some((beam) => beam[PARENT] === place);
    return goesOn ? 'dropped later' : 'dropped: others scored better';
  }

  return {
    put, order, tokens, fate,
    /** @param {Spot} spot */
    beam: ({ step, place }) => steps[step][place],
    /** @param {Spot} spot */
    leads: ({ step, place }) => lead[step] === place,
    /** @param {Spot} spot */
    survives: ({ step, place }) => alive[step].has(place),
    get first() { return first; },
    get length() { return steps.length; },
    get over() { return returned !== null; },
  };
}
