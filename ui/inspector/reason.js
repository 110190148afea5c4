/**
 * Why this token: the cumulative distribution, where the random draw landed, and the greedy choice.
 */

/** @import { Candidate, Step } from './step.js' */

import { termLink } from '../glossary/term_link.js';
import { make } from '../kit/js/dom.js';
import { counted, percent, tokenChip, visible, visibleText } from '../kit/js/text.js';
import { stepContrast } from './contrast.js';
import { chosenOf, last, part, ranked } from './step.js';

// The two filters that may remove the most probable token on purpose; all others leave it the first.
const AGAINST_THE_LIKELY = new Set(['typical_p', 'xtc']);

/** @param {Step} step @returns {Node} */
export function stepReason(step) {
  const shown = cumulativeShares(step);
  return part('Why this token', make('p', { class: 'at-md at-quiet at-why' }, ...sentences(step, shown)),
    ...(step.contrastive ? [] : [cumulativeBar(step, shown)]), ...stepContrast(step));
}

/**
 * The tokens in the order in which a draw walks over them, and where each one's share begins.
 * @param {Step} step @returns {{candidate: Candidate, from: number, to: number}[]}
 */
function cumulativeShares(step) {
  // A token that is there only because it was chosen may have others, not shown, before it.
  const listed = ({ probabilities, isChosen }) =>
    last(probabilities) > 0 && (!isChosen || step.rank <= step.candidates.length);
  let from = 0;
  return ranked(step.candidates, step.stages.length - 1).filter(listed).map((candidate) => {
    const to = from + last(candidate.probabilities);
    const extent = { candidate, from, to };
    from = to;
    return extent;
  });
}

/** @param {Step} step @param {ReturnType<typeof cumulativeShares>} shown @returns {(Node | string)[]} */
function sentences(step, shown) {
  const chosen = chosenOf(step);
  const rank = `rank ${counted.format(step.rank)} of ${counted.format(step.kept[0])}`;
  const gave = `The model gave it ${percent(chosen.probabilities[0])}, ${rank}`;
  const first = ranked(step.candidates, 0)[0];
  const likeliest = first === chosen ? ['; no token was more likely.'] : ['; the most likely was ', tokenChip(first.text), '.'];
  switch (step.origin) {
    case 'given': return ['Part of the prompt, not generated. ', gave, ...likeliest];
    case 'taken': return ['Chosen by you. ', gave, ...likeliest];
    case 'search': return [termLink('beam-search', 'Beam search'), ' ranks whole texts, not single tokens: of all the texts it followed, one with ',
      'this token scored best. ', gave, '.'];
    default: return step.draw === null ? taken(step, chosen, first) : drawn(step, chosen, shown);
  }
}

/** @param {Step} step @param {Candidate} chosen @param {Candidate} first the model's top choice, before any filter */
function taken(step, chosen, first) {
  if (step.contrastive) {
    return [tokenChip(chosen.text), ' scored best of these candidates. ', termLink('contrastive-search', 'Contrastive search'),
      ' looks for a token that is likely (high confidence) and unlike the text so far (low degeneration).'];
  }
  if (chosen === first) return ['The most probable token was chosen; there was no random draw.'];
  return ['The most probable token was chosen; there was no random draw. Before the filters, the most probable was ',
    tokenChip(first.text), '.'];
}

/** @param {Step} step @param {Candidate} chosen @param {ReturnType<typeof cumulativeShares>} shown */
function drawn(step, chosen, shown) {
  const extent = shown.find(({ candidate }) => candidate === chosen);
  const fell = extent ? ` (${extent.from.toFixed(3)}–${extent.to.toFixed(3)}). ` : ', which is not among those listed. ';
  return [termLink('sampling', 'Random draw'), ` ${step.draw.toFixed(3)} landed on `, tokenChip(chosen.text), fell, ...undrawn(step, chosen)];
}

/** The choice without a random draw. @param {Step} step @param {Candidate} chosen @returns {(Node | string)[]} */
function undrawn(step, chosen) {
  const turned = step.stages.findIndex((stage) => AGAINST_THE_LIKELY.has(stage));
  const stage = turned < 0 ? step.stages.length - 1 : turned - 1;
  const [first] = ranked(step.candidates, stage);
  const sure = first === ranked(step.candidates, 0)[0] || first.probabilities[stage] > step.rest[stage];
  if (!sure) return []; // after a penalty it may be a token that is not listed
  if (step.contrast) { // which greedy does not do
    return first === chosen ? ['It was also the most probable token after DoLa.']
      : ['The most probable token after DoLa was ', tokenChip(first.text), '.'];
  }
  const greedy = termLink('greedy', 'Greedy decoding');
  if (first === chosen) return [greedy, ' would also choose it.'];
  return [greedy, ' would choose ', tokenChip(first.text), '.'];
}

/** @param {Step} step @param {ReturnType<typeof cumulativeShares>} shown */
function cumulativeBar(step, shown) {
  const bar = make('div', { class: 'at-cumulative', 'aria-hidden': 'true' });
  for (const { candidate, from, to } of shown) {
    const title = `${visibleText(candidate.text)} · ${percent(to - from)}`;
    const segment = make('span', { class: candidate.isChosen ? 'at-won' : '', title });
    segment.style.flexGrow = String(to - from);
    if (to - from > 0.09) segment.append(...visible(candidate.text));
    bar.append(segment);
  }
  const others = 1 - (last(shown)?.to ?? 0);
  if (others > 0.0005) {
    const segment = make('span', { class: 'at-others', title: `others · ${percent(others)}` });
    segment.style.flexGrow = String(others);
    if (others > 0.15) segment.textContent = 'others';
    bar.append(segment);
  }
  if (step.draw !== null && step.origin === 'chosen') {
    const marker = make('i', { class: 'at-draw' });
    marker.style.left = `${100 * step.draw}%`;
    bar.append(marker);
  }
  return bar;
}
