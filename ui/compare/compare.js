/**
 * The comparison: a prompt, the cards of settings that answer it side by side, and its files.
 *
 * The cards and the prompt live here until they are sent; results come from the server, each time only what is new.
 * Events: 'compare', 'halt', 'token', 'remove', 'restore', 'missing', and the questions 'panel', 'file' and 'runs'.
 *
 * @typedef {import('./results/results.js').Card & {view: ReturnType<typeof makeCard>, editing: ReturnType<typeof makeEditing>}} Card
 */

/** @import { CompareForm, CompareRequest, CompareValue } from './compare_contract' */
/** @import { Settings } from './cards/form.js' */

import { isExample, makeExampleNote, offersExamples } from '../examples/example.js';
import { helps } from '../glossary/helps.js';
import { find, make, makeButton } from '../kit/js/dom.js';
import { Questions } from '../kit/js/questions.js';
import { askedComparison, classLinkWanted, comparedRun, fileClosed, openedComparison, panelSettings, settledText, shownTab, showTab } from '../kit/js/signals.js';
import { followColour } from '../kit/js/theme.js';
import { copy, downloadReply, notify } from '../kit/js/transfer.js';
import { followValue, unpacked } from '../kit/js/values.js';
import { shareFile } from '../inspector/toolbar/shared_file.js';
import { offerTokens } from '../runs/answer.js';
import { makeAsk, promptKey } from './ask.js';
import { lastWords, makeCard, reveal } from './cards/card.js';
import { BUSY, makeEditing } from './cards/editing.js';
import { same, summary } from './cards/form.js';
import { makeLegend, offerHelp, rangesOf } from './cards/metrics.js';
import { Removed } from './cards/removed.js';
import { linkOf, takeLinked } from './link.js';
import { makeOpened } from './opened.js';
import { makeProgress } from './results/progress.js';
import { Results } from './results/results.js';
import { sharedComparison } from './results/shared.js';
import { makeToolbar } from './toolbar.js';

const fetchExample = () => import('../examples/comparison.js');

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const { element, props, trigger } = component;
  const root = find(element, '.attend-compare');
  const offered = /** @type {CompareForm} */ (unpacked(props.form));
  let awaitsExample = offersExamples(unpacked(props.beginning));
  /** @type {Card[]} */
  let cards = [];
  const results = new Results();
  const questions = new Questions(trigger);
  let newest = 0; // the highest number of an update
  let busy = false;
  const removed = new Removed();
  /** @type {CompareRequest | null} another tab's, which came while texts were being written */
  let request = null;
  /** @type {string[]} for each card, what has changed since its text was written; "" for nothing */
  let stale = [];
  let seedInView = -1; // of the texts in view; -1 where none was drawn at random
  let continued = ''; // the last words of the text that the cards continue
  /** @type {{of: Settings[], words: ReturnType<typeof summary>[]}} the settings of each card in words */
  let summaries = { of: [], words: [] };
  /** @type {Record<string, number | null>} the sidebar's settings, which hold where a card has none of its own */
  let panel = {};
  /** @type {number | null | undefined} */
  let panelSeed;

  for (const { name, help } of offered.metrics) helps.set(name, { where: 'In Compare', text: help });
  const ask = makeAsk(offered.example, {
    run: compare, stop: () => trigger('halt', {}), type: drawIfStale, choose: draw,
  });
  const toolbar = makeToolbar(offered, {
    fill: (list) => {
      opened.close();
      fill(list);
    },
    add: addCard, restore,
    link: copyLink, classLink: (button) => withLink(button, (address) => classLinkWanted.publish(address)),
    share: (button) => questions.ask('runs', {}, ({ file }) => file && shareFile(button, 'comparison', file[0],
      JSON.stringify(sharedComparison(offered, cards, results, continued, JSON.parse(file[1]))))),
    download: (kind) => questions.ask('file', { kind }, ({ file }) => downloadReply(file, kind)),
  });
  const requestButton = makeButton('Use the settings from Learn', takeRequest);
  const note = make('div', { hidden: true }); // says that the cards are an example
  const progress = makeProgress(note);
  const grid = make('div', { class: 'at-cards' });
  const legend = makeLegend([]);
  const opened = makeOpened();

  root.replaceChildren(...ask.nodes, ...toolbar.nodes, progress.node, requestButton, opened.node, grid, legend);
  followColour(root);
  offerHelp(root);
  offerTokens(grid, (answer, index) => trigger('token', { run: answer.run(), index }), reveal);
  const linked = takeLinked(offered);
  awaitsExample &&= !linked;
  if (linked) ask.show({ ...ask.read(), ...linked });
  if (!awaitsExample) fill((linked ?? offered.fills[0]).cards);
  panelSettings.subscribe(root, drawPanel);
  askedComparison.subscribe(root, (comparison) => {
    request = { history: false, common: true, seed: -1, lengths: [], ...comparison };
    if (busy) draw();
    else takeRequest();
  });
  comparedRun.subscribe(root, (run) => {
    showTab('Compare');
    root.scrollIntoView(); // the page stands far below, at the inspector
    trigger('repeat', run);
  });
  fileClosed.subscribe(root, () => {
    opened.close();
    draw();
  });
  openedComparison.subscribe(root, (file) => {
    if (!file) return;
    opened.show(file);
    draw();
  });
  followValue(component, (value) => {
    if (value.number !== undefined) questions.settle(value);
    else merge(value);
  });
  shownTab.subscribe(root, (tab) => {
    if (tab === 'Compare' && awaitsExample) showExample().catch(() => fill(offered.fills[0].cards));
    if (tab === 'Compare') awaitsExample = false;
  });

  /** Whatever the visitor changes and runs is their own. */
  async function showExample() {
    const { comparison: recorded } = await fetchExample();
    if (results.run !== null || cards.length) return; // the last comparison was restored meanwhile, or cards were chosen
    fill(recorded.settings);
    if (busy || !results.isEmpty || ask.read().text !== offered.example) return; // the visitor or a link was first
    ask.show({ ...ask.read(), text: recorded.text });
    note.replaceChildren(makeExampleNote({
      model: recorded.model, length: recorded.cards[0].length, take: 'Run it yourself', onTake: compare,
    }));
    results.submit(cards, { prompt: promptKey(ask.read()), seed: undefined, cards: recorded.settings });
    results.put(recorded.run, recorded.cards);
    continued = lastWords(recorded.continued);
    draw();
  }

  function addCard() {
    opened.close();
    cards.push(newCard(cards.at(-1).settings));
    draw();
    cards.at(-1).editing.open(true);
  }

  /** @param {HTMLElement} button @param {(address: string, without: string[]) => void} use is given the link, unless it would be too long */
  function withLink(button, use) {
    const isUpToDate = !busy && !stale.some(Boolean);
    const { address, without } = linkOf(location.href, {
      ...ask.read(), cards: cards.map((card) => card.settings), seed: isUpToDate ? seedInView : -1,
    });
    if (address === null) notify(button, 'These settings are too long for a link: remove a card, or shorten its texts.');
    else use(address, without);
  }

  /** @param {HTMLElement} button */
  function copyLink(button) {
    withLink(button, (address, without) => copy(address, button, without.length ? ` without ${without.join(' and ')}` : ''));
  }

  /** Results stay until the next comparison. @param {Settings[]} list a card for each */
  function fill(list) {
    removed.clear();
    forget(cards.slice(list.length));
    cards = list.map((settings, index) => {
      if (!cards[index]) return newCard(settings);
      change(cards[index], settings);
      cards[index].editing.form.show(settings);
      return cards[index];
    });
    draw();
  }

  /** @param {Card} card @param {Settings} settings */
  function change(card, settings) {
    card.settings = settings;
    draw();
  }

  /** @param {Settings} settings @returns {Card} */
  function newCard(settings) {
    /** @type {Card} */
    const card = { settings, run: null, sent: null, view: null, editing: null };
    card.editing = makeEditing(offered, {
      change: (changed) => change(card, changed),
      panel: () => questions.ask('panel', {}, ({ settings: copied }) => {
        if (!copied) return;
        change(card, copied);
        card.editing.form.show(copied);
      }),
      remove: () => remove(card),
    });
    card.editing.form.show(settings);
    card.editing.form.hold(panel);
    card.view = makeCard(offered.metrics, card.editing);
    return card;
  }

  /**
   * Show the sidebar's settings where a card has none of its own. No card is drawn again: this comes with every move of a
   * slider, whether or not the comparison is in sight.
   * @param {Record<string, number | null>} settings with the seed
   */
  function drawPanel({ seed, ...shared }) {
    if (same(panel, shared) && seed === panelSeed) return;
    [panel, panelSeed] = [shared, seed];
    ask.showShared(`Maximum length ${shared.max_new_tokens ?? '–'} · `
      + `${seed < 0 ? 'random seed' : `seed ${seed ?? '–'}`} (sidebar settings)`);
    cards.forEach((card) => card.editing.form.hold(shared));
    drawIfStale();
  }

  function drawIfStale() {
    if (!same(stale, cards.map(staleness))) draw();
  }

  /** The settings that a card would be run with now. @param {Card} card @returns {Settings} */
  function inEffect(card) {
    return { max_new_tokens: panel.max_new_tokens, ...card.settings };
  }

  /** @param {Card} card */
  function staleness(card) {
    const settings = isExample(card.run) ? card.settings : inEffect(card);
    return results.staleness(card, { prompt: promptKey(ask.read()), seed: panelSeed, settings });
  }

  /** @param {Card} card */
  function remove(card) {
    const result = results.of(card);
    removed.push(cards, card, summaries.words, result);
    cards = cards.filter((other) => other !== card);
    forget([card]);
    if (result && results.isEmpty) removed.clear(); // the comparison is over
    draw();
    toolbar.focusUndo();
  }

  /** Put the card that was removed last back where it was, with its text. */
  function restore() {
    const { card, index, run, sent, result } = removed.pop();
    cards.splice(index, 0, card);
    results.restore(card, { run, sent, result });
    card.editing.form.hold(panel);
    if (result && !isExample(run)) trigger('restore', { run, index });
    draw();
    if (removed.last) toolbar.focusUndo();
    else card.editing.focusRemove();
  }

  /** Drop these cards' results, here and on the server. @param {Card[]} dropped */
  function forget(dropped) {
    const runs = results.forget(dropped);
    if (runs.length) trigger('remove', { runs });
  }

  function compare() {
    if (busy) return;
    const invalid = cards.find((card) => card.editing.form.invalidField());
    if (invalid) {
      invalid.editing.open(true);
      invalid.editing.form.invalidField().focus();
      return;
    }
    results.submit(cards, { prompt: promptKey(ask.read()), seed: panelSeed, cards: cards.map(inEffect) });
    trigger('compare', { ...ask.read(), cards: cards.map((card) => card.settings) });
  }

  /** @param {CompareValue} value what is new of the cards */
  function merge(value) {
    if ((value.update ?? 0) < newest) return;
    newest = value.update ?? 0;
    const hadRun = results.run !== null && !isExample(results.run);
    const isBeginning = value.busy && !busy;
    busy = value.busy;
    if (isBeginning) request = null; // a comparison that was refused leaves it
    if (isBeginning || (hadRun && value.run !== results.run)) opened.close();
    if (value.request && value.run !== results.run) adopt(value.request);
    if (hadRun && value.run === null) { // the texts are gone
      // Cards that were removed here have no results any more, so these were deleted in the history.
      const areDeleted = cards.some((card) => results.of(card));
      if (areDeleted && results.wereWrittenFrom(promptKey(ask.read()))) ask.show({ ...ask.read(), text: offered.example });
      results.forget(cards);
    }
    if (value.run !== results.run && (hadRun || value.run !== null)) removed.clear(); // they belong to the comparison before
    if (!results.put(value.run, value.cards) && !busy) trigger('missing', {});
    if (value.run !== null) continued = lastWords(value.continued);
    seedInView = value.seed;
    ask.offer(value);
    draw();
    if (busy ? isBeginning : value.run !== null || hadRun) {
      settledText.publish({ kind: 'compare', isEmpty: !busy && value.run === null, isGrowing: busy });
    }
  }

  /** Another tab's cards take the place of those here. */
  function takeRequest() {
    opened.close();
    adopt(request);
    request = null;
    draw();
  }

  /** Show the prompt and the cards of a comparison that was not asked for here. @param {CompareRequest} comparison */
  function adopt(comparison) {
    const submission = {
      prompt: promptKey(comparison), seed: comparison.seed,
      cards: comparison.cards.map((settings, index) => ({ max_new_tokens: comparison.lengths[index], ...settings })),
    };
    if (results.awaits(submission)) return;
    awaitsExample = false;
    removed.clear();
    cards = comparison.cards.map(newCard);
    ask.show(comparison);
    results.submit(cards, submission);
  }

  function draw() {
    const settings = cards.map((card) => card.settings);
    if (!same(settings, summaries.of)) { // summing up takes longer than drawing a card that has grown
      summaries = { of: settings, words: settings.map((one) => summary(offered, one, settings)) };
    }
    const cardResults = cards.map((card) => results.of(card));
    const started = cardResults.filter((result) => result !== null);
    stale = cards.map(staleness);
    const ranges = rangesOf(started.map((result) => result.metrics));
    cards.forEach((card, index) => card.view.show({
      number: index + 1, words: summaries.words[index], result: cardResults[index], first: started[0] || null, ranges, busy,
      stale: stale[index], prompt: cardResults[index] ? continued : '', removable: cards.length > offered.fewest,
    }));
    const nodes = cards.map((card) => card.view.node);
    if (removed.last && getComputedStyle(grid).gridTemplateColumns.split(' ').length === 1) nodes.splice(removed.last.index, 0, toolbar.undo);
    else toolbar.placeUndo();
    if (nodes.length !== grid.children.length || nodes.some((node, i) => grid.children[i] !== node)) {
      grid.replaceChildren(...nodes);
    }
    grid.hidden = progress.node.hidden = opened.isOpen;
    legend.hidden = opened.isOpen || !ranges.some(Boolean);
    grid.dataset.count = String(cards.length);
    const isOwn = started.some((result) => !isExample(result.run));
    toolbar.draw({ cards: settings, busy, hasFiles: isOwn && !opened.isOpen, removed: opened.isOpen ? '' : removed.last?.name ?? '' });
    ask.draw(busy);
    grid.setAttribute('aria-busy', String(busy));
    note.hidden = busy || isOwn || !started.length;
    requestButton.hidden = !request;
    requestButton.disabled = busy;
    requestButton.title = busy ? BUSY : '';
    progress.draw(started, { busy, stale: stale.find(Boolean) ?? '' });
  }
}
