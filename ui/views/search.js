/**
 * A search of texts: what each of its steps followed, and what became of it. Draws nothing.
 *
 * @typedef {[string, number, number, number, number, number | null]} Beam newest token, its score, the sum, the model's
 *   own sum (nats), its parent's place in the step before, and what it is ranked by once it has ended
 * @typedef {[number, number, string, number | null, number | null]} Fate step, place, reason, score, what it had to beat
 * @typedef {{first: number, since: number, steps: Beam[][], dropped: Fate[], lead: [number, number] | null,
 *   over: boolean, returned: [number, number][]}} SearchValue
 * @typedef {{step: number, place: number}} Spot one hypothesis
 */

const [TOKEN, ADDED, SUM, OWN, PARENT, FINAL] = [0, 1, 2, 3, 4, 5];

function makeSearch() {
  /** @type {Beam[][]} */
  const steps = [];
  let first = 0;
  /** @type {Map<string, Fate>} by step and place */
  const dropped = new Map();
  /** @type {[number, number] | null} the best text */
  let best = null;
  let over = false;
  /** @type {[number, number][]} those that are returned, best first */
  let returned = [];
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
    best = value?.lead ?? null;
    over = value?.over ?? false;
    returned = value?.returned ?? [];
    if (!steps.length || !value?.since) dropped.clear();
    for (const fate of value?.dropped ?? []) dropped.set(`${fate[0]}/${fate[1]}`, fate);
    trace();
    return true;
  }

  function trace() {
    lead = [];
    const end = steps.length - 1;
    let [step, place] = best ?? [-1, 0];
    for (; step >= 0; step -= 1) {
      lead[step] = place;
      place = steps[step][place][PARENT];
    }
    alive = steps.map(() => new Set());
    for (step = end; step >= 0; step -= 1) {
      steps[step].forEach((beam, at) => {
        if (step === end || (beam[FINAL] !== null && !dropped.has(`${step}/${at}`))) alive[step].add(at);
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
    const told = dropped.get(`${step}/${place}`);
    const rank = returned.findIndex(([at, which]) => at === step && which === place);
    if (rank >= 0 && returned.length > 1) return `returned, ${ordinal(rank + 1)} of ${returned.length}`;
    if (best && best[0] === step && best[1] === place) return over ? 'returned' : 'leads';
    if (lead[step] === place) return over ? 'begins the returned text' : 'leads';
    if (told) return dropWords(told);
    if (steps[step][place][FINAL] !== null) return 'ended, kept';
    return alive[step].has(place) ? 'followed' : 'dropped later';
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
  };
}

/** @param {Fate} fate why a text was let go, in words */
function dropWords([, , reason, score, toBeat]) {
  const needed = score === null || toBeat === null ? '' : `: ${nats(score)}, to beat ${nats(toBeat)}`;
  switch (reason) {
    case 'outscored': return `outscored${needed}`;
    case 'not drawn': return 'dropped: no continuation was drawn';
    case 'ended': return 'its continuations ended';
    case 'search over': return 'left when the search ended';
    default: return `ended, outranked${needed}`;
  }
}

/** @param {number} rank from 1 to 8, the most beams there are */
const ordinal = (rank) => `${rank}${['st', 'nd', 'rd'][rank - 1] ?? 'th'}`;

/** @param {number} score a log-probability */
const nats = (score) => (Math.abs(score) < 0.005 ? '0.00' : signed(score.toFixed(2)));
