/**
 * Why this token: the cumulative distribution, where the random draw landed, and the greedy choice.
 */

/** @import { Candidate, Step } from './step.js' */

import { termLink } from '../glossary/term_link.js';
import { make } from '../kit/js/dom.js';
import { counted, percent, tokenChip, visible, visibleText } from '../kit/js/text.js';
import { stepContrast } from './contrast.js';
import { chosenOf, part, ranked } from './step.js';

// These two filters may remove the most probable token on purpose; all others keep it first.
const AGAINST_THE_LIKELY = new Set(['typical_p', 'xtc']);

/** @param {Step} step @returns {Node} */
export function stepReason(step) {
  const segments = cumulativeSegments(step);
  return part('Why this token', make('p', { class: 'at-md at-quiet at-why' }, ...sentences(step, segments)),
    ...(step.contrastive ? [] : [cumulativeBar(step, segments)]), ...stepContrast(step));
}

/** @typedef {{candidate: Candidate, from: number, to: number}} Segment of the cumulative distribution */

/**
 * The candidates in the order in which a draw walks over them, each with its part of the cumulative distribution.
 * @param {Step} step @returns {Segment[]}
 */
function cumulativeSegments(step) {
  // A candidate that is listed only because it was chosen may come after others that are not listed.
  const isListed = ({ finalShare, isChosen }) => finalShare > 0 && (!isChosen || step.rank <= step.candidates.length);
  let from = 0;
  return ranked(step.candidates, step.stages.length - 1).filter(isListed).map((candidate) => {
    const segment = { candidate, from, to: from + candidate.finalShare };
    from = segment.to;
    return segment;
  });
}

/** @param {Step} step @param {Segment[]} segments @returns {(Node | string)[]} */
function sentences(step, segments) {
  const chosen = chosenOf(step);
  const rank = `rank ${counted.format(step.rank)} of ${counted.format(step.kept[0])}`;
  const gave = `The model gave it ${percent(chosen.modelShare)}, ${rank}`;
  const [first] = ranked(step.candidates, 0);
  const likeliest = first === chosen ? ['; no token was more likely.'] : ['; the most likely was ', tokenChip(first.text), '.'];
  switch (step.origin) {
    case 'given': return ['Part of the prompt, not generated. ', gave, ...likeliest];
    case 'taken': return ['Chosen by you. ', gave, ...likeliest];
    case 'search': return [termLink('beam-search', 'Beam search'), ' ranks whole texts, not single tokens: of all the texts it followed, one with ',
      'this token scored best. ', gave, '.'];
    default: return step.draw === null ? choiceSentence(step, chosen, first) : drawSentence(step, chosen, segments);
  }
}

/** @param {Step} step @param {Candidate} chosen @param {Candidate} first the model's top choice, before any filter */
function choiceSentence(step, chosen, first) {
  if (step.contrastive) {
    return [tokenChip(chosen.text), ' scored best of these candidates. ', termLink('contrastive-search', 'Contrastive search'),
      ' looks for a token that is likely (high confidence) and unlike the text so far (low degeneration).'];
  }
  if (chosen === first) return ['The most probable token was chosen; there was no random draw.'];
  return ['The most probable token was chosen; there was no random draw. Before the filters, the most probable was ',
    tokenChip(first.text), '.'];
}

/** @param {Step} step @param {Candidate} chosen @param {Segment[]} segments */
function drawSentence(step, chosen, segments) {
  const segment = segments.find(({ candidate }) => candidate === chosen);
  const place = segment ? ` (${segment.from.toFixed(3)}–${segment.to.toFixed(3)}). ` : ', which is not among those listed. ';
  return [termLink('sampling', 'Random draw'), ` ${step.draw.toFixed(3)} landed on `, tokenChip(chosen.text), place,
    ...greedySentence(step, chosen)];
}

/** What would be chosen without a random draw. @param {Step} step @param {Candidate} chosen @returns {(Node | string)[]} */
function greedySentence(step, chosen) {
  const against = step.stages.findIndex((name) => AGAINST_THE_LIKELY.has(name));
  const stage = against < 0 ? step.stages.length - 1 : against - 1;
  const [first] = ranked(step.candidates, stage);
  const isCertain = first === ranked(step.candidates, 0)[0] || first.probabilities[stage] > step.rest[stage];
  if (!isCertain) return []; // after a penalty, the most probable token may not be listed
  if (step.contrast) { // greedy decoding contrasts no layers
    return first === chosen ? ['It was also the most probable token after DoLa.']
      : ['The most probable token after DoLa was ', tokenChip(first.text), '.'];
  }
  const greedy = termLink('greedy', 'Greedy decoding');
  if (first === chosen) return [greedy, ' would also choose it.'];
  return [greedy, ' would choose ', tokenChip(first.text), '.'];
}

/** @param {Step} step @param {Segment[]} segments */
function cumulativeBar(step, segments) {
  const bar = make('div', { class: 'at-cumulative', 'aria-hidden': 'true' });
  /** @param {number} share @param {string} kind @param {string} name @param {Node[]} label for which there may be room */
  const addPart = (share, kind, name, label) => {
    const element = make('span', { class: kind, title: `${name} · ${percent(share)}` }, ...label);
    element.style.flexGrow = String(share);
    bar.append(element);
  };
  for (const { candidate: { text, isChosen }, from, to } of segments) {
    addPart(to - from, isChosen ? 'at-won' : '', visibleText(text), to - from > 0.09 ? visible(text) : []);
  }
  const others = 1 - (segments.at(-1)?.to ?? 0);
  if (others > 0.0005) addPart(others, 'at-others', 'others', others > 0.15 ? [document.createTextNode('others')] : []);
  if (step.draw !== null && step.origin === 'chosen') {
    const marker = make('i', { class: 'at-draw' });
    marker.style.left = `${100 * step.draw}%`;
    bar.append(marker);
  }
  return bar;
}
