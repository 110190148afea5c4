/**
 * The inspector: the tokens of one run, and how the selected one was chosen.
 *
 * It keeps the whole run and adds what is new, so that a token can be selected without asking the server. Events: 'take'
 * or, in Chat, 'branch' (use another token in this one's place), 'explain' (in Chat: send the steps of the prompt) and
 * 'missing' (an update was lost: send the run whole).
 */

/** @import { RecordedRuns } from '../examples/examples_contract' */
/** @import { InspectorValue, OpenedRun } from './inspector_contract' */
/** @import { Sheet } from '../kit/js/data.js' */

import { MODES, isExample, makeExampleNote, modeOf, offersExamples, recordedRuns, takeOver } from '../examples/example.js';
import { termLink } from '../glossary/term_link.js';
import { partOf } from '../kit/address/address.js';
import { makeData } from '../kit/js/data.js';
import { find, make } from '../kit/js/dom.js';
import { answerSelections, colourMode, connectionLost, inspectedRun, inspectedStep, inspectedToken, openedAttention, shownHead } from '../kit/js/signals.js';
import { level } from '../kit/js/text.js';
import { followColour, whenThemed } from '../kit/js/theme.js';
import { followValue, unpacked } from '../kit/js/values.js';
import { AVERAGE } from './attention/attention.js';
import { NO_ATTENTION, makeAttentionPanel } from './attention/attention_panel.js';
import { makeBeams } from './beams/beams.js';
import { contrastSheets } from './contrast.js';
import { inspectorValue } from './document_value.js';
import { makeEmptyNote, makeFileNote } from './notes.js';
import { Run } from './run.js';
import { attentionSheet, beamSheet, candidateSheet, tokenSheet } from './sheets.js';
import { makeStepPane } from './step_pane.js';
import { makeColours, makeStrip } from './token_strip.js';
import { followWriteText } from './write_text.js';

const STACKED = window.matchMedia('(max-width: 1000px)'); // where it may stand below the texts
const NO_ATTENTION_IN_FILE = 'This file has no attention, or too much to be shown. Save run includes it; generate.py doesn’t.';
const THROTTLE_MS = 200; // between two drawings while a text streams: nobody reads a table faster

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const { element, props, trigger } = component;
  const root = find(element, '.attend-inspector');
  const run = new Run();
  const writeText = followWriteText(run);
  const strip = makeStrip(select);
  const colouring = makeColours();
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
    absent: whyNoAttention,
  });
  const beams = makeBeams(run.search, select);
  const data = makeData(sheets);

  /** @type {{index: number, following: boolean, requested: number | null}} `requested` is what the server last selected */
  const choice = { index: -1, following: true, requested: null };
  const beginning = unpacked(props.beginning);
  run.isServed = !beginning.alone;
  const exampleModes = new Set(offersExamples(beginning) ? MODES : []);
  if (partOf('comparison') !== null) exampleModes.delete('compare'); // the cards of a link show no example, either
  /** @type {RecordedRuns | null} the one in view */
  let example = null;
  let newestUpdate = 0;
  let frame = 0;
  let timer = 0;
  let refreshed = 0; // the time of the last drawing
  let isRequested = false; // a token was clicked in a text, and its table is to be scrolled into view
  let isInSight = true; // under the cards of Compare, or the conversation on a phone, a text that grows is not drawn
  /** @type {string | null} the run that was last requested because a part of it had been left out */
  let completedRun = null;
  /** @type {string | null} the run whose prompt the server was last asked to explain */
  let explainedRun = null;

  const empty = makeEmptyNote();
  const note = make('div', { hidden: true }); // says that the run is an example
  const fileNote = makeFileNote();
  const panels = [
    note, fileNote.node,
    make('section', { 'aria-label': 'Tokens' },
      make('div', { class: 'at-head' }, make('h3', {}, termLink('token', 'Tokens')), colouring.node), strip.node),
    step.head, make('div', { class: 'at-columns' }, step.body, attentionPanel.node),
    beams.node, data.node,
  ];

  root.replaceChildren(...(exampleModes.size ? [] : [empty.node]));
  for (const kind of ['pointerenter', 'focusin']) {
    attentionPanel.node.addEventListener(kind, () => { if (run.isMissingRows) complete(); });
  }
  followColour(root);
  colourMode.subscribe(root, redraw);
  shownHead.subscribe(root, ({ run: name, layer, head, kind }) => {
    if (name !== run.name) return;
    attentionPanel.choose(layer, head, kind);
    attentionPanel.offer();
    colouring.choose('attention');
    strip.node.scrollIntoView({ block: 'nearest' });
  });
  answerSelections((name, index) => {
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
  connectionLost.subscribe(root, stop);
  followValue(component, receive);

  /** @param {InspectorValue | OpenedRun} sent */
  function receive(sent) {
    const value = 'document' in sent ? valueOf(sent) : sent;
    const number = value.number ?? 0;
    const isLate = number < newestUpdate; // a newer update has overtaken it
    if (isLate && value.run !== run.name) return;
    newestUpdate = Math.max(newestUpdate, number);
    if (value.run !== null && value.mode === 'compare') exampleModes.delete('compare'); // the visitor's cards stay, even without texts
    const wantsExample = value.run === null && !value.unloaded && exampleModes.has(value.mode);
    if (wantsExample && example && value.mode === run.mode) return;
    if (example) {
      example = null;
      attentionPanel.choose(AVERAGE, AVERAGE);
    }
    accept(value, isLate);
    if (wantsExample) showExample(value.mode).catch(() => root.replaceChildren(empty.node));
  }

  /** @param {OpenedRun} opened @returns {InspectorValue} */
  function valueOf({ document, run: name, file, number }) {
    const kept = openedAttention.latest?.run === name ? openedAttention.latest.attention : null; // which was not sent
    return { ...inspectorValue(kept ? { ...document, attention: kept } : document, name), file, number };
  }

  /**
   * Show the example of a mode, unless something else comes first.
   * @param {string} mode
   * @param {{run: string, index: number}} [token] to select in one of its runs; by default, the token that was recorded
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

  /** @param {InspectorValue} value @param {boolean} [isLate] a newer update has overtaken it */
  function accept(value, isLate = false) {
    if (value.continues && value.continues === run.name) continueRun(value);
    else if (value.run !== run.name) begin(value);
    run.mode = value.mode;
    run.first = value.first;
    if (!isLate || value.since) { // only the selection of an older complete value is new
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
    inspectedRun.publish(run);
    if (!value.unloaded) writeText.report(); // at once: a text may have come to rest before the next drawing
    const rest = refreshed + THROTTLE_MS - performance.now();
    const isDue = rest <= 0 && (isInSight || !refreshed); // at least the beginning of a new run is drawn
    if (!run.isBusy || isDue) refresh(value.unloaded);
    else if (isInSight) timer ||= setTimeout(refresh, rest);
  }

  /** Draw what has arrived. @param {string} [unloaded] the model that wrote the text, no longer loaded */
  function refresh(unloaded) {
    clearTimeout(timer);
    timer = 0;
    refreshed = performance.now();
    if (!run.tokens.length) {
      empty.explain(unloaded);
      root.replaceChildren(...(exampleModes.has(run.mode) && !unloaded ? [] : [empty.node]));
      inspectedToken.publish({ run: null, index: null, levels: null, promptLevels: null, busy: run.isBusy });
      inspectedStep.publish({ step: null });
    } else if (!strip.node.isConnected) root.replaceChildren(...panels);
    note.hidden = !isExample(run.name);
    strip.update(run.tokens);
    attentionPanel.offer();
    settle();
  }

  /** The server is lost, so nothing grows any more. @param {{until: (saved: Promise<unknown>) => void}} lost */
  function stop({ until }) {
    const wasGrowing = run.isBusy;
    run.isBusy = false;
    refresh();
    if (wasGrowing) writeText.rescue(until);
  }

  /** @param {InspectorValue} value */
  function begin(value) {
    run.begin(value.run);
    explainedRun = null;
    Object.assign(choice, { index: -1, following: true, requested: null });
    fileNote.show(value.file ?? '');
    document.body.toggleAttribute('data-file', Boolean(value.file)); // while it is open, Chat hides its example
    refreshed = 0;
  }

  /** The text was changed: the part before the change stays. @param {InspectorValue} value */
  function continueRun(value) {
    run.rename(value.run);
    Object.assign(choice, { following: true, requested: null });
  }

  /** Select a token, which stays selected until "Newest" is pressed. @param {number} index */
  function select(index) {
    if (!run.tokens[index]) return;
    choice.following = false;
    choice.index = index;
    if (!run.isComplete(index)) complete();
    const isExplainable = run.mode === 'chat' && index > 0 && index < run.first && !run.steps[index];
    if (isExplainable && canAsk() && explainedRun !== run.name) trigger('explain', { run: explainedRun = run.name });
    settle();
  }

  /** Whether the server can be asked about the run: it knows the run, and is not writing it. */
  function canAsk() {
    return !run.isBusy && run.isKnown;
  }

  /** Request what was left out of the run to save bytes; once, since the server leaves out parts of a very long text again. */
  function complete() {
    if (canAsk() && completedRun !== run.name) trigger('missing', { run: completedRun = run.name });
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
    attentionPanel.reveal(); // last, since asking for positions lays the page out
    strip.reveal();
    if (isRequested) step.body.firstElementChild.scrollIntoView({ block: 'nearest' });
    isRequested = false;
  }

  function whyNoAttention() {
    if (run.isBusy && run.tokens.length <= run.promptLength) return 'Waiting for the first token …';
    return run.mode === 'file' ? NO_ATTENTION_IN_FILE : NO_ATTENTION;
  }

  /** Use another token in place of one. @param {number} index @param {number} id */
  function take(index, id) {
    if (run.mode === 'chat') trigger('branch', { run: run.name, index, token: id });
    else trigger('take', { index, token: id });
  }

  /** Shade the tokens by attention, if that is their colour, and tell the rest of the page which token is inspected. */
  function shade() {
    const colours = root.dataset.colour === 'attention'
      ? attentionPanel.weightsOf(choice.index - 1) ?? attentionPanel.received(choice.index) : null;
    const levels = root.dataset.colour === 'attention' ? shades(colours ?? new Float32Array(0)) : null;
    strip.shade(levels);
    const index = choice.index >= run.first ? choice.index - run.first : null;
    inspectedToken.publish({
      run: run.name, index, levels: levels && levels.slice(run.first), promptLevels: levels && levels.slice(0, run.first), busy: run.isBusy,
    });
  }

  /** @returns {Sheet[]} */
  function sheets() {
    const selected = run.steps[choice.index];
    const weights = attentionPanel.numbers(choice.index - 1);
    return [
      ...(selected ? [candidateSheet(selected), ...contrastSheets(selected)] : []),
      ...(run.search.length ? [beamSheet(run.search)] : []),
      ...(weights ? [attentionSheet(weights, (key) => run.tokens[key].text)] : []),
      tokenSheet(run.steps, run.first),
    ];
  }
}

/** Shades relative to the strongest weight after the first token's, so that long contexts do not pale. @param {Float32Array} weights */
function shades(weights) {
  const peak = Math.max(0, ...weights.subarray(1)) || 1;
  return Array.from(weights, (weight) => level(weight / peak));
}
