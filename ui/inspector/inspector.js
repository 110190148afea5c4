/**
 * The inspector: the tokens of one run, and how the selected one was chosen.
 *
 * It keeps the run it was given, updates it with what is new, and selects without asking the server. Events: 'take'
 * and, in Chat, 'branch' (another token in its place) and 'explain' (what the prompt was to the model), and 'missing' (an
 * update was lost; send the run whole).
 */

/** @import { RecordedRuns } from '../examples/examples_contract' */
/** @import { InspectorValue } from './inspector_contract' */
/** @import { Sheet } from '../kit/js/data.js' */

import { MODES, isExample, makeExampleNote, modeOf, recordedRuns, takeOver } from '../examples/example.js';
import { termLink } from '../glossary/term_link.js';
import { partOf } from '../kit/address/address.js';
import { makeData } from '../kit/js/data.js';
import { find, make } from '../kit/js/dom.js';
import { answerSelections, colourMode, connectionLost, interruptedText, settledText, shownStep, shownToken } from '../kit/js/signals.js';
import { level } from '../kit/js/text.js';
import { followColour, whenThemed } from '../kit/js/theme.js';
import { unpacked } from '../kit/js/values.js';
import { AVERAGE } from './attention/attention.js';
import { makeAttentionPanel } from './attention/attention_panel.js';
import { makeBeams } from './beams/beams.js';
import { contrastSheets } from './contrast.js';
import { makeEmptyNote } from './empty.js';
import { makeOpenedNote } from './opened.js';
import { Run } from './run.js';
import { attentionSheet, beamSheet, candidateSheet } from './sheets.js';
import { makeStepPane } from './step_pane.js';
import { makeColours, makeStrip } from './tokens.js';

const STACKED = window.matchMedia('(max-width: 1000px)'); // where it may stand below the texts
const THROTTLE_MS = 200; // between two drawings while a text streams: nobody reads a table faster

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-inspector');
  const run = new Run();
  const strip = makeStrip(select);
  const step = makeStepPane(run, {
    take,
    move: (by) => select(choice.index + by),
    follow: () => {
      choice.following = true;
      settle();
    },
  });
  const attentionPanel = makeAttentionPanel({
    attention: run.attention, textOf: (token) => run.tokens[token]?.text ?? '', onPick: select, onChange: redraw,
  });
  const beams = makeBeams(run.search, select);
  const data = makeData(sheets);

  const choice = {
    index: -1, following: true, requested: /** @type {number | null} */ (null), // the selection that the server last requested
  };
  const offered = new Set(unpacked(props.beginning).recorded ? MODES : []);
  if (partOf('comparison') !== null) offered.delete('compare'); // a link's cards show none, either
  let example = /** @type {RecordedRuns | null} */ (null); // which is shown
  let update = 0; // the highest number of one
  let frame = 0;
  let timer = 0;
  let refreshed = 0; // when
  let isRequested = false; // whether a token was clicked in a text, and its table is to be seen
  let isInSight = true; // under the cards of Compare, or the conversation on a phone, a text that grows is not drawn
  let lastSettled = ''; // the text that was kept last
  let whole = /** @type {string | null} */ (null); // the run that was last requested because a part of it had been left out

  let explained = /** @type {string | null} */ (null); // the run whose prompt the server was last asked to explain

  const empty = makeEmptyNote();
  const note = make('div', { hidden: true }); // what says that an example is one
  const opened = makeOpenedNote();
  const panels = [
    note, opened.node,
    make('section', { 'aria-label': 'Tokens' },
      make('div', { class: 'at-head' }, make('h3', {}, termLink('token', 'Tokens')), makeColours()), strip.node),
    step.head,
    make('div', { class: 'at-columns' }, step.body, attentionPanel.node),
    beams.node, data.node,
  ];

  root.replaceChildren(...(offered.size ? [] : [empty.node]));
  for (const kind of ['pointerenter', 'focusin']) {
    attentionPanel.node.addEventListener(kind, () => { if (run.isMissingRows) complete(); });
  }
  followColour(root);
  colourMode.subscribe(root, redraw);
  answerSelections(root, (name, index) => {
    isRequested = STACKED.matches;
    const isHere = name !== null && name === run.name && Boolean(run.tokens[run.first + index]);
    if (isHere) select(run.first + index);
    else if (isExample(name)) showExample(modeOf(name), { run: name, index });
    return isHere || isExample(name);
  });
  whenThemed(() => {
    attentionPanel.forgetColours();
    redraw();
  });
  new IntersectionObserver((entries) => {
    isInSight = entries.at(-1).isIntersecting;
    if (isInSight && run.isBusy) refresh();
  }).observe(element);
  connectionLost.subscribe(root, rescue);
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
    if (wantsExample) showExample(value.mode).catch(() => root.replaceChildren(empty.node));
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
    else if (value.run !== run.name) begin(value);
    run.mode = value.mode;
    run.first = value.first;
    if (!isLate || value.since) { // of an older whole, only what it selects is news
      run.isBusy = value.busy;
      run.merge(value);
    }
    if (value.selected !== undefined && value.selected !== choice.requested) {
      choice.requested = value.selected;
      choice.following = value.selected === null;
      if (value.selected !== null) choice.index = value.selected;
    }
    if (choice.index >= run.tokens.length) choice.following = true; // the end was cut off
    if (choice.following) choice.index = run.newest; // at once, since a drawing may be on its way
    if (run.isMissingTokens && !run.isBusy) trigger('missing', { run: run.name });
    if (!value.unloaded) keepText(); // at once: a text may have come to rest before the next drawing
    const rest = refreshed + THROTTLE_MS - performance.now();
    const isDue = rest <= 0 && (isInSight || !refreshed); // of a new run at least its beginning
    if (!run.isBusy || isDue) refresh(value.unloaded);
    else if (isInSight) timer ||= setTimeout(refresh, rest);
  }

  /** Draw what has arrived. @param {string} [unloaded] the model that wrote the text, no longer loaded */
  function refresh(unloaded) {
    clearTimeout(timer);
    timer = 0;
    refreshed = performance.now();
    root.classList.toggle('at-busy', run.isBusy);
    if (!run.tokens.length) {
      empty.explain(unloaded);
      root.replaceChildren(...(offered.has(run.mode) && !unloaded ? [] : [empty.node]));
      shownToken.publish({ run: null, index: null, levels: null, given: null, busy: run.isBusy });
      shownStep.publish({ step: null });
    } else if (!strip.node.isConnected) root.replaceChildren(...panels);
    note.hidden = !isExample(run.name);
    strip.update(run.tokens);
    attentionPanel.offer();
    settle();
  }

  /** The box of Write has no script: that its text grows, or has come to rest, is seen by its run. */
  function keepText() {
    const text = run.isBusy ? run.name : run.tokens.length ? `${run.name} ${run.tokens.length}` : '';
    if (run.mode !== 'write' || isExample(run.name) || text === lastSettled) return;
    lastSettled = text;
    settledText.publish({ kind: 'write', isEmpty: !text, isGrowing: run.isBusy });
  }

  /** The server is lost: nothing grows any more, and Write's text, whose box has no script, is saved. @param {any} lost */
  function rescue({ until }) {
    const box = /** @type {HTMLTextAreaElement | null} */ (document.querySelector('#attend-text textarea'));
    const isGrowing = run.isBusy;
    run.isBusy = false;
    refresh();
    if (isGrowing && run.mode === 'write' && box?.value) interruptedText.publish({ kind: 'write', text: box.value, until });
  }

  /** @param {InspectorValue} value */
  function begin(value) {
    run.begin(value.run);
    explained = null;
    Object.assign(choice, { index: -1, following: true, requested: null });
    opened.show(value.file ?? '');
    refreshed = 0;
  }

  /** The text was changed: what is shown of it stands as far as it is the same. @param {InspectorValue} value */
  function continueRun(value) {
    run.rename(value.run);
    Object.assign(choice, { following: true, requested: null });
  }

  /** @param {number} index selected by hand: stays there until "follow" */
  function select(index) {
    if (!run.tokens[index]) return;
    choice.following = false;
    choice.index = index;
    const isWhole = index < run.first ? !run.isMissingRows : run.steps[index]
      && (run.attention.first < 0 || run.attention.weights(index - 1, AVERAGE, AVERAGE));
    if (!isWhole) complete();
    const isUnexplained = run.mode === 'chat' && index > 0 && index < run.first && !run.steps[index] && !isExample(run.name);
    if (isUnexplained && !run.isBusy && explained !== run.name) trigger('explain', { run: explained = run.name });
    settle();
  }

  /** Request what was left out of the run to save bytes; once, since of a very long text the server leaves it out again. */
  function complete() {
    if (!run.isBusy && !isExample(run.name) && whole !== run.name) trigger('missing', { run: whole = run.name });
  }

  function settle() {
    if (choice.following) choice.index = run.newest;
    strip.select(choice.index);
    redraw();
  }

  /** Changes of one frame are drawn together. */
  function redraw() {
    if (!frame) frame = requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    if (!run.tokens.length || !element.isConnected) return;
    const { index } = choice;
    step.draw(index, choice.following);
    attentionPanel.draw(index - 1);
    beams.show(index);
    shade();
    data.draw();
    attentionPanel.reveal(); // last: it asks where things stand, for which all is laid out
    strip.reveal();
    if (isRequested) step.body.firstElementChild.scrollIntoView({ block: 'nearest' });
    isRequested = false;
  }

  /** Use another token in place of one. @param {number} index @param {number} id */
  function take(index, id) {
    if (run.mode === 'chat') trigger('branch', { run: run.name, index, token: id });
    else trigger('take', { index, token: id });
  }

  /** Tell the conversation what is shown, and shade both by attention when that is the colour. */
  function shade() {
    const colours = root.dataset.colour === 'attention'
      ? attentionPanel.weightsOf(choice.index - 1) ?? attentionPanel.received(choice.index) : null;
    const levels = root.dataset.colour === 'attention' ? shades(colours ?? new Float32Array(0)) : null;
    strip.shade(levels);
    const index = choice.index >= run.first ? choice.index - run.first : null;
    shownToken.publish({
      run: run.name, index, levels: levels && levels.slice(run.first), given: levels && levels.slice(0, run.first), busy: run.isBusy,
    });
  }

  /** @returns {Sheet[]} */
  function sheets() {
    const shown = run.steps[choice.index];
    const weights = attentionPanel.numbers(choice.index - 1);
    return [
      ...(shown ? [candidateSheet(shown), ...contrastSheets(shown)] : []),
      ...(run.search.length ? [beamSheet(run.search)] : []),
      ...(weights ? [attentionSheet(weights, (key) => run.tokens[key].text)] : []),
    ];
  }
}

/** @param {Float32Array} weights against the strongest but for the first token, so that long contexts do not pale */
function shades(weights) {
  const peak = Math.max(0, ...weights.subarray(1)) || 1;
  return Array.from(weights, (weight) => level(weight / peak));
}
