/**
 * The inspector: the tokens of one run, and how the selected one was chosen.
 *
 * It keeps the run it was given, updates it with what is new, and selects without asking the server. Events: 'take'
 * and, in Chat, 'branch' (another token in its place) and 'missing' (an update was lost; send the run whole).
 */

/** @import { RecordedRuns } from '../examples/contract' */
/** @import { InspectorValue, StepValue } from './contract' */
/** @import { Sheet } from '../kit/js/data.js' */

import { MODES, isExample, makeExampleNote, modeOf, recordedRuns, takeOver } from '../examples/example.js';
import { termLink } from '../glossary/term_link.js';
import { makeData } from '../kit/js/data.js';
import { find, iconButton, make } from '../kit/js/dom.js';
import { answerSelections, colourMode, settledText, shownStep, shownToken } from '../kit/js/signals.js';
import { level } from '../kit/js/text.js';
import { followColour, whenThemed } from '../kit/js/theme.js';
import { unpacked } from '../kit/js/values.js';
import { AVERAGE, makeAttention } from './attention/attention.js';
import { makeAttentionPanel } from './attention/attention_panel.js';
import { makeBeams } from './beams/beams.js';
import { makeSearch } from './beams/search.js';
import { contrastSheets } from './contrast.js';
import { stepStages } from './filters.js';
import { makeOpenedNote } from './opened.js';
import { stepReason } from './reason.js';
import { attentionSheet, beamSheet, candidateSheet } from './sheets.js';
import { stepHeadline } from './step.js';
import { stepTable } from './table.js';
import { makeColours, makeStrip } from './tokens.js';

const THROTTLE_MS = 100; // between two drawings while a text streams: drawing it takes longer than writing it

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-inspector');
  const attention = makeAttention();
  const strip = makeStrip(select);
  const attentionPanel = makeAttentionPanel({
    attention, textOf: (token) => run.tokens[token]?.[0] ?? '', onPick: select, onChange: redraw,
  });
  const search = makeSearch();
  const beams = makeBeams(search, select);
  const data = makeData(sheets);

  const run = {
    name: /** @type {string | null} */ (null), mode: 'chat', busy: false, gap: false, first: 0,
    tokens: /** @type {[string, string, number | null][]} */ ([]),
    steps: /** @type {(StepValue | undefined)[]} */ ([]), // by token number
  };
  const choice = {
    index: -1, following: true, requested: /** @type {number | null} */ (null), // the selection that the server last requested
  };
  const offered = new Set(unpacked(props.beginning).recorded ? MODES : []);
  let example = /** @type {RecordedRuns | null} */ (null); // which is shown
  let update = 0; // the highest number of one
  let frame = 0;
  let timer = 0;
  let refreshed = 0; // when
  let lastSettled = ''; // the text that was kept last
  let stepDrawn = null;
  let whole = ''; // the run that was last asked for because a part of it had been left out

  const follow = make('button', { type: 'button', class: 'at-follow', text: 'Newest', title: 'Follow the newest token' });
  const earlier = iconButton('previous', 'Earlier token', () => select(choice.index - 1));
  const later = iconButton('next', 'Later token', () => select(choice.index + 1));
  const headline = make('div', { class: 'at-headline', 'aria-live': 'off' });
  const table = make('div', { class: 'at-table-pane' });
  const reason = make('div', { class: 'at-reason' });
  const stages = make('div', { class: 'at-stages-pane' });

  const hint = { title: make('p', { class: 'at-empty-title' }), detail: make('p', { class: 'at-quiet' }) };
  const empty = make('div', { class: 'at-empty' }, hint.title, hint.detail);
  const note = make('div', { hidden: true }); // what says that an example is one
  const opened = makeOpenedNote();
  const panels = [
    note, opened.node,
    make('section', { 'aria-label': 'Tokens' },
      make('div', { class: 'at-head' }, make('h3', {}, termLink('token', 'Tokens')), makeColours()), strip.node),
    make('section', { class: 'at-step', 'aria-label': 'Selected token' },
      make('div', { class: 'at-step-head' }, headline, make('div', { class: 'at-walk' }, follow, earlier, later))),
    make('div', { class: 'at-columns' }, make('div', { class: 'at-step-pane' }, table, reason, stages), attentionPanel.node),
    beams.node, data.node,
  ];

  explainEmpty('');
  root.replaceChildren(...(offered.size ? [] : [empty]));
  followColour(root);
  follow.addEventListener('click', () => {
    choice.following = true;
    settle();
  });
  colourMode.subscribe(root, redraw);
  answerSelections(root, (name, index) => {
    const isHere = name !== null && name === run.name && Boolean(run.tokens[run.first + index]);
    if (isHere) select(run.first + index);
    else if (isExample(name)) showExample(modeOf(name), { run: name, index });
    return isHere || isExample(name);
  });
  whenThemed(() => {
    attentionPanel.forgetColours();
    redraw();
  });
  watch('value', receive);
  receive();

  /** A value arrived: keep what is new in it. */
  function receive() {
    if (!props.value) return;
    const value = /** @type {InspectorValue} */ (unpacked(props.value));
    const number = value.number ?? 0;
    const isLate = number < update; // begun before what is shown, but slower
    if (isLate && value.run !== run.name) return;
    update = Math.max(update, number);
    const wantsExample = value.run === null && !value.unloaded && offered.has(value.mode);
    if (wantsExample && example && value.mode === run.mode) return;
    if (example) {
      example = null;
      attentionPanel.choose(AVERAGE, AVERAGE);
    }
    accept(value, isLate);
    if (wantsExample) showExample(value.mode).catch(() => root.replaceChildren(empty));
  }

  /**
   * @param {string} mode whose example is to be shown, unless something else comes first
   * @param {{run: string, index: number}} [token] to begin with, of one of its runs; else as it was recorded
   */
  async function showExample(mode, token) {
    const before = run.name;
    const recorded = await recordedRuns(mode);
    const isAwaited = run.name === before || (token && isExample(run.name)); // a click may come before the example itself
    if (!isAwaited || (run.mode !== mode && !token)) return;
    if (example !== recorded) attentionPanel.choose(recorded.layer, recorded.head);
    example = recorded;
    note.replaceChildren(makeExampleNote({
      model: recorded.model, take: mode === 'write' ? 'Continue this text' : '', onTake: () => takeOver('write'),
    }));
    const value = recorded.runs.find((each) => each.run === token?.run) ?? recorded.runs.at(-1);
    accept(token ? { ...value, selected: null } : value);
    if (token) select(run.first + token.index);
  }

  /** @param {InspectorValue} value @param {boolean} [isLate] it was begun before what is shown */
  function accept(value, isLate = false) {
    if (value.continues && value.continues === run.name) continueRun(value);
    else if (value.run !== run.name) startRun(value);
    run.mode = value.mode;
    run.first = value.first;
    if (!isLate || value.since) { // of an older whole, only what it selects is news
      run.busy = value.busy;
      merge(value);
    }
    if (value.selected !== choice.requested) {
      choice.requested = value.selected;
      choice.following = value.selected === null;
      if (value.selected !== null) choice.index = value.selected;
    }
    if (choice.index >= run.tokens.length) choice.following = true; // the end was cut off
    if (choice.following) choice.index = newest(); // at once, since a drawing may be on its way
    if (run.gap && !run.busy) trigger('missing', { run: run.name });
    const rest = refreshed + THROTTLE_MS - performance.now();
    if (!run.busy || rest <= 0) refresh(value.unloaded);
    else timer ||= setTimeout(refresh, rest);
  }

  /** Draw what has arrived. @param {string} [unloaded] see `explainEmpty` */
  function refresh(unloaded) {
    clearTimeout(timer);
    timer = 0;
    refreshed = performance.now();
    root.classList.toggle('at-busy', run.busy);
    if (!run.tokens.length) {
      explainEmpty(unloaded);
      root.replaceChildren(...(offered.has(run.mode) && !unloaded ? [] : [empty]));
      shownToken.publish({ run: null, index: null, levels: null, given: null, busy: run.busy });
      shownStep.publish({ step: null });
    } else if (!table.isConnected) root.replaceChildren(...panels);
    if (!unloaded) keepText();
    note.hidden = !isExample(run.name);
    strip.update(run.tokens);
    attentionPanel.offer();
    settle();
  }

  /** The box of Write has no script: that its text grows, or has come to rest, is seen by its run. */
  function keepText() {
    const text = run.busy ? run.name : run.tokens.length ? `${run.name} ${run.tokens.length}` : '';
    if (run.mode !== 'write' || isExample(run.name) || text === lastSettled) return;
    lastSettled = text;
    settledText.publish({ kind: 'write', isEmpty: !text, isGrowing: run.busy });
  }

  /** Why there is nothing to show. @param {string} [unloaded] the model that wrote the text, no longer loaded */
  function explainEmpty(unloaded) {
    hint.title.textContent = unloaded ? `${unloaded} wrote this, but is no longer loaded.` : 'Nothing to inspect yet.';
    hint.detail.textContent = unloaded
      ? 'Choose it again to inspect these tokens. Tokens from the current model will appear here, too.'
      : 'Once the model has written something, click any token to see which others were possible and where the '
        + 'model looked.';
  }

  /** @param {InspectorValue} value */
  function startRun(value) {
    Object.assign(run, { name: value.run, tokens: [], steps: [], gap: false });
    Object.assign(choice, { index: -1, following: true, requested: null });
    attention.cut(0);
    search.put(null);
    opened.show(value.file ?? '');
    refreshed = 0;
  }

  /** The text was changed: what is shown of it stands as far as it is the same. @param {InspectorValue} value */
  function continueRun(value) {
    Object.assign(run, { name: value.run, gap: false });
    Object.assign(choice, { following: true, requested: null });
    search.put(null);
  }

  /** Everything before `since` stands; what is from there on is replaced. @param {InspectorValue} value */
  function merge(value) {
    const since = value.since || 0;
    run.gap = since > run.tokens.length || !search.put(value.search);
    if (run.gap) return;
    run.tokens = run.tokens.slice(0, since).concat(value.tokens);
    const from = Math.max(run.first, since);
    run.steps.length = Math.min(run.steps.length, from);
    const stepsFrom = value.steps_from ?? from;
    value.steps.forEach((step, i) => {
      run.steps[stepsFrom + i] = step;
    });
    if (since) attention.cut(since - 1); // the pass that chose token `since` had its query one before it
    attention.put(value.rows, value.rows_from, [value.layers, value.heads], value.source);
    if (!since) attention.keep(value.rows_from, value.rows_from + value.rows.length);
  }

  /** @param {number} index selected by hand: stays there until "follow" */
  function select(index) {
    if (!run.tokens[index]) return;
    choice.following = false;
    choice.index = index;
    const isWhole = index < run.first || isExample(run.name) || (run.steps[index]
      && (attention.first < 0 || attention.weights(index - 1, AVERAGE, AVERAGE)));
    if (!isWhole && !run.busy && whole !== run.name) trigger('missing', { run: whole = run.name });
    settle();
  }

  function settle() {
    if (choice.following) choice.index = newest();
    strip.select(choice.index);
    redraw();
  }

  /** The last token of the answer that has a text: the one that ends it would say little. */
  function newest() {
    const end = run.tokens.length - 1;
    for (let index = end; index >= run.first; index -= 1) {
      if (run.tokens[index][1] !== 'control') return index;
    }
    return end;
  }

  /** Changes of one frame are drawn together. */
  function redraw() {
    if (!frame) frame = requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    if (!run.tokens.length || !element.isConnected) return;
    const { index } = choice;
    const [text] = run.tokens[index];
    const step = run.steps[index];
    follow.hidden = choice.following || (index === newest() && !run.busy);
    earlier.disabled = index <= 0;
    later.disabled = index >= run.tokens.length - 1;
    const position = index >= run.first
      ? `Token ${index - run.first + 1} of ${run.tokens.length - run.first}` : `Prompt token ${index + 1} of ${run.first}`;
    headline.replaceChildren(...stepHeadline({ text, position, step, why: 'part of the prompt, not generated' }));
    drawStep(step);
    attentionPanel.draw(index - 1);
    beams.show(index);
    shade();
    data.draw();
    attentionPanel.reveal(); // last: it asks where things stand, for which all is laid out
    strip.reveal();
  }

  /** @param {StepValue | undefined} step */
  function drawStep(step) {
    const able = !run.busy && (run.mode === 'write' || run.mode === 'chat') && !isExample(run.name);
    const wanted = step ? `${run.name} ${choice.index} ${able}` : '';
    if (stepDrawn && stepDrawn.step === step && stepDrawn.wanted === wanted) return;
    stepDrawn = { step, wanted };
    shownStep.publish({ step: step ?? null });
    const { index } = choice;
    const take = (/** @type {number} */ id) =>
      run.mode === 'chat' ? trigger('branch', { run: run.name, index, id }) : trigger('take', { index, id });
    table.replaceChildren(step ? stepTable(step, able ? take : null)
      : make('p', {
        class: 'at-quiet', text: 'This token is part of the prompt. Select a generated token to see which others were possible.',
      }));
    reason.replaceChildren(...(step ? [stepReason(step)] : []));
    stages.replaceChildren(...(step ? stepStages(step) : []));
  }

  /** Tell the conversation what is shown, and shade both by attention when that is the colour. */
  function shade() {
    const colours = root.dataset.colour === 'attention' ? attentionPanel.weightsOf(choice.index - 1) : null;
    const levels = root.dataset.colour === 'attention' ? shades(colours ?? new Float32Array(0)) : null;
    strip.shade(levels);
    const index = choice.index >= run.first ? choice.index - run.first : null;
    shownToken.publish({
      run: run.name, index, levels: levels && levels.slice(run.first), given: levels && levels.slice(0, run.first), busy: run.busy,
    });
  }

  /** @returns {Sheet[]} */
  function sheets() {
    const step = run.steps[choice.index];
    const weights = attentionPanel.numbers(choice.index - 1);
    return [
      ...(step ? [candidateSheet(step), ...contrastSheets(step)] : []),
      ...(search.length ? [beamSheet(search)] : []),
      ...(weights ? [attentionSheet(weights, (key) => run.tokens[key][0])] : []),
    ];
  }
}

/** @param {Float32Array} weights against the strongest but for the first token, so that long contexts do not pale */
function shades(weights) {
  const peak = Math.max(0, ...weights.subarray(1)) || 1;
  return Array.from(weights, (weight) => level(weight / peak));
}
