/**
 * What the settings would do to the token that the inspector shows: its most probable candidates before and after.
 *
 * It is drawn with the inspector, so both always show the same token; nothing is drawn while the panel is out of sight.
 */

/** @import { Step } from '../inspector/step.js' */
/** @import { PanelForm } from './settings_contract' */
/** @import { Filter, Picture } from './distribution.js' */
/** @import { PanelState } from './panel_state.js' */

import { changeList, changeRow } from '../kit/js/change_bars.js';
import { make } from '../kit/js/dom.js';
import { shownStep } from '../kit/js/signals.js';
import { percent, tokenChip, visibleText } from '../kit/js/text.js';
import { isDrawable, pictureOf } from './distribution.js';

const MAX_BARS = 5;
const THROTTLE_MS = 50; // between two drawings while a slider moves

/**
 * @param {Element} owner in sight whenever the picture could be
 * @param {() => ReturnType<typeof previewOf>} settings
 */
export function makePreview(owner, settings) {
  const list = changeList();
  const note = make('p', { class: 'at-help' });
  const estimate = make('span', { class: 'at-hint', text: 'estimate', title: 'Only the most probable tokens are recorded individually.' });
  const node = make('section', { id: 'attend-preview', 'aria-label': 'Preview at the selected token', hidden: true },
    make('h3', {}, 'Preview at the selected token ', estimate), list, note);
  /** @type {Step | null} */
  let step = null;
  let isInSight = false;
  let timer = 0;

  function redraw() {
    if (!settings()) node.hidden = true; // now, or the settings of a method without it would jump
    if (isInSight) timer ||= setTimeout(draw, THROTTLE_MS);
  }

  function draw() {
    clearTimeout(timer);
    timer = 0;
    const chain = settings();
    const picture = step && chain && pictureOf(step, chain.filters);
    node.hidden = !picture;
    if (!picture) return;
    const bars = picture.bars.slice(0, MAX_BARS);
    const largest = Math.max(...bars.flatMap(({ before, after }) => [before, after]));
    list.replaceChildren(
      ...bars.map(({ text, before, after }) => barRow(tokenChip(text), visibleText(text), before, after, largest)),
      barRow(make('span', { text: 'all others' }), 'all others', ...othersOf(picture), largest));
    estimate.hidden = !picture.isEstimate;
    note.textContent = chain.left.length ? `Not shown: ${chain.left.join(', ')}.` : '';
  }

  new IntersectionObserver((changes) => {
    isInSight = changes.at(-1).isIntersecting;
    redraw();
  }).observe(owner);
  shownStep.subscribe(owner, (shown) => {
    step = /** @type {Step | null} */ (shown.step);
    if (isInSight) draw();
  });
  return { node, redraw };
}

/**
 * What the preview draws: the filters that have an effect, and the names of those that one step says too little about.
 * @param {PanelForm} form
 * @param {PanelState} state
 * @returns {{filters: Filter[], left: string[]} | null} null where the method says nothing about a single step
 */
export function previewOf(form, state) {
  const { values, strategy } = state;
  const isCold = strategy === 'sample' && state.isShown('temperature') && values.temperature < form.zero_temperature;
  const acting = isCold ? 'greedy' : strategy;
  if (state.isComparing || !['greedy', 'sample'].includes(acting)) return null;
  const on = state.stagesOn().filter((stage) => form.chains[acting].includes(stage));
  const isFixed = (stage) => stage !== 'temperature' || !state.isShown('dynatemp_range') || state.isNeutral('dynatemp_range');
  const drawn = on.filter((stage) => isDrawable(stage) && isFixed(stage));
  if (drawn.some((stage) => state.isInvalid(stage))) return null;
  const filters = drawn.map((stage) => ({ stage, value: values[stage] }));
  const left = on.filter((stage) => !drawn.includes(stage)).map((stage) => form.labels[stage]);
  if (acting === 'greedy') filters.push({ stage: 'greedy', value: 1 });
  else if (state.isShown('mirostat_mode') && !state.isNeutral('mirostat_mode')) {
    left.push(form.parameters.find(({ name }) => name === 'mirostat_mode').label);
  }
  return { filters, left };
}

/** @param {Picture} picture @returns {[number, number]} what the bars leave, before and after */
function othersOf({ bars, rest }) {
  const more = bars.slice(MAX_BARS);
  return [more.reduce((sum, { before }) => sum + before, rest.before), more.reduce((sum, { after }) => sum + after, rest.after)];
}

/** @param {HTMLElement} label @param {string} name @param {number} before @param {number} after @param {number} largest */
const barRow = (label, name, before, after, largest) =>
  changeRow(label, { name, before, after, largest, gone: after < 1e-9 ? 'cut' : '', written: share });

/** @param {number} p short enough for the panel */
const share = (p) => percent(p, p < 0.0995 ? 1 : 0);
