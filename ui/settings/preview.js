/**
 * The effect of the settings on the token in the inspector: its most probable candidates before and after.
 *
 * It is drawn together with the inspector, so both always show the same token; nothing is drawn while the panel is out of sight.
 */

/** @import { Step } from '../inspector/step.js' */
/** @import { PanelForm } from './settings_contract' */
/** @import { Filter, Picture } from './distribution.js' */
/** @import { PanelState } from './panel_state.js' */

import { changeList, changeRow } from '../kit/js/change_bars.js';
import { make } from '../kit/js/dom.js';
import { inspectedRun, inspectedStep } from '../kit/js/signals.js';
import { percent, tokenChip, visibleText } from '../kit/js/text.js';
import { isDrawable, pictureOf } from './distribution.js';

const MAX_BARS = 5;
const THROTTLE_MS = 50; // between two drawings while a slider moves

/**
 * @param {Element} owner which is in sight whenever the preview may be
 * @param {(used: Record<string, any> | null) => ReturnType<typeof previewOf>} settings `used`: those of the token's run
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
    if (!settings(null)) node.hidden = true; // at once, or the settings of a method without a preview would jump
    if (isInSight) timer ||= setTimeout(draw, THROTTLE_MS);
  }

  function draw() {
    clearTimeout(timer);
    timer = 0;
    const chain = step && settings(inspectedRun.latest.settingsOf(step));
    const picture = chain && pictureOf(step, chain.filters);
    node.hidden = !picture;
    if (!picture) return;
    const bars = picture.bars.slice(0, MAX_BARS);
    const largest = Math.max(...bars.flatMap(({ before, after }) => [before, after]));
    list.replaceChildren(
      ...bars.map((bar) => barRow(tokenChip(bar.text), visibleText(bar.text), bar, largest)),
      barRow(make('span', { text: 'all others' }), 'all others', othersOf(picture), largest));
    estimate.hidden = !picture.isEstimate;
    note.textContent = chain.leftOut.length ? `Not shown: ${chain.leftOut.join(', ')}.` : '';
  }

  new IntersectionObserver((changes) => {
    isInSight = changes.at(-1).isIntersecting;
    redraw();
  }).observe(owner);
  inspectedStep.subscribe(owner, (inspected) => {
    step = /** @type {Step | null} */ (inspected.step);
    if (isInSight) draw();
  });
  return { node, redraw };
}

/**
 * What the preview draws: the filters that have an effect, and the names of those about which one step says too little.
 * @param {PanelForm} form
 * @param {PanelState} state
 * @param {Record<string, any> | null} used the settings that chose the token; null where they are not known
 * @returns {{filters: Filter[] | null, leftOut: string[]} | null} null for methods that choose more than a single token; with
 *   null as filters where all that they do is recorded
 */
export function previewOf(form, state, used = null) {
  const { values, strategy } = state;
  const isCold = strategy === 'sample' && state.isShown('temperature') && values.temperature < form.zero_temperature;
  const effective = isCold ? 'greedy' : strategy;
  if (state.isComparing || !['greedy', 'sample'].includes(effective)) return null;
  const active = state.stagesOn().filter((stage) => form.chains[effective].includes(stage));
  const isFixed = (stage) => stage !== 'temperature' || !state.isShown('dynatemp_range') || state.isNeutral('dynatemp_range');
  const stages = active.filter((stage) => isDrawable(stage) && isFixed(stage));
  if (stages.some((stage) => state.isInvalid(stage))) return null;
  if (effective === 'sample' && used && state.isSameChoice(used)) return { filters: null, leftOut: [] };
  const filters = stages.map((stage) => ({ stage, value: values[stage] }));
  const leftOut = active.filter((stage) => !stages.includes(stage)).map((stage) => form.labels[stage]);
  if (effective === 'greedy') filters.push({ stage: 'greedy', value: 1 });
  else if (state.isShown('mirostat_mode') && !state.isNeutral('mirostat_mode')) {
    leftOut.push(form.parameters.find(({ name }) => name === 'mirostat_mode').label);
  }
  return { filters, leftOut };
}

/** The probability of all tokens without a bar. @param {Picture} picture */
function othersOf({ bars, rest }) {
  const others = bars.slice(MAX_BARS);
  return {
    before: others.reduce((sum, { before }) => sum + before, rest.before),
    after: others.reduce((sum, { after }) => sum + after, rest.after),
  };
}

/** @param {HTMLElement} label @param {string} name @param {{before: number, after: number}} shares @param {number} largest */
const barRow = (label, name, { before, after }, largest) =>
  changeRow(label, { name, before, after, largest, gone: after === 0 ? 'cut' : '', written: share });

/** A probability in a form short enough for the panel. @param {number} p */
const share = (p) => percent(p, p < 0.0995 ? 1 : 0);
