/**
 * The history: the browser saves the visitor's texts, and they are restored when the page is opened again. Its events are
 * those of `HistoryReply`.
 *
 * While the visible tab is being restored, the body has `data-restoring`: no example is shown in its place
 * (ui/history/history.css), and the page is not called ready (ui/page/page.js).
 */

/** @import { Keeper, Present } from './keeper.js' */
/** @import { Entry, Store } from './store.js' */

import { partOf } from '../kit/address/address.js';
import { find, make, setText } from '../kit/js/dom.js';
import { Questions } from '../kit/js/questions.js';
import { connected, currentModel, documentToOpen, interruptedText, settledText, showTab, shownTab } from '../kit/js/signals.js';
import { followValue, unpacked } from '../kit/js/values.js';
import { leftOutNote, withinLimit } from './documents.js';
import { makeList } from './history_list.js';
import { makeKeeper } from './keeper.js';
import { openStore } from './store.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const { element, props, trigger } = component;
  const root = find(element, '.attend-history');
  const tabs = /** @type {Record<string, string>} the entry in the switch of each kind of tab */ (unpacked(props.tabs));
  const questions = new Questions(trigger);
  let attempts = 0; // to show a document
  const notice = make('p', { class: 'at-md at-optional at-kept-notice', role: 'alert' });
  let problem = ''; // that arose when a text was last saved
  /** @type {Map<string, string>} notices for texts whose tables were not all restored, by tab */
  const leftOutNotes = new Map();
  let awaited = new Set(Object.values(tabs)); // the tabs whose texts may still be restored
  shownTab.subscribe(root, () => {
    markRestoring();
    drawNotice();
  });
  root.replaceChildren(make('span'));
  followValue(component, (reply) => questions.settle(reply));
  documentToOpen.subscribe(root, ({ document }) => {
    present(/** @type {any} */ (document), { isShown: true, bring: !isModelChosen() });
  });
  openStore().then(keep).catch(() => {}) // without a history, where the browser forbids it
    .finally(() => awaitTabs([]));

  /** @param {string[]} names */
  function awaitTabs(names) {
    awaited = new Set(names);
    markRestoring();
  }

  function markRestoring() {
    document.body.toggleAttribute('data-restoring', awaited.has(shownTab.latest));
  }

  /** Say on the page what went wrong, until the next change is saved. @param {string} sentence "" for nothing */
  function warn(sentence) {
    problem = sentence;
    drawNotice();
  }

  /** Show which tables of a tab's text are missing, until the text changes. @param {string} kind @param {string} sentence "" for nothing */
  function noteLeftOut(kind, sentence) {
    leftOutNotes.set(tabs[kind], sentence);
    drawNotice();
  }

  function drawNotice() {
    setText(notice, problem || (leftOutNotes.get(shownTab.latest) ?? ''));
  }

  /** @param {Store} store */
  async function keep(store) {
    const keeper = makeKeeper(store, questions, present, warn);
    const list = makeList(store, tabs, {
      open: (entry) => open(keeper, entry),
      forget: (keys) => {
        const kinds = keeper.forget(keys);
        for (const kind of kinds) trigger('forget', { kind, shown: tabs[kind] === shownTab.latest });
        return kinds.length > 0;
      },
      reopen: async ({ key, kind }) => {
        const isShown = tabs[kind] === shownTab.latest;
        if (keeper.isKeeping) await keeper.open(key, { isShown, bring: isShown }); // else nobody could bring back what is there now
      },
      evict: () => keeper.evict(),
      keep: (isKeeping) => keeper.setKeeping(isKeeping),
    });
    root.append(list.node);
    find(document.body, '.attend-header').after(notice);
    const button = find(document.body, '#attend-history-button');
    button.hidden = false;
    button.addEventListener('click', () => list.present(keeper.isKeeping));
    await restore(keeper);
    settledText.subscribe(root, (text) => {
      if (text.isEmpty || text.isGrowing) noteLeftOut(text.kind, '');
      keeper.follow(text);
    });
    interruptedText.subscribe(root, ({ until, ...text }) => until(keeper.rescue(text, currentModel.latest?.name ?? '')));
  }

  /** @type {Present} */
  async function present(document, { isShown, bring }) {
    attempts += 1;
    const sendable = withinLimit(document);
    const question = { attempt: attempts, document: sendable, shown: isShown, bring };
    const { opened = false } = await new Promise((resolve) => {
      questions.ask('open', question, resolve, { bring: false }); // a model whose loading was cancelled stays away
    });
    if (opened) noteLeftOut(document.kind, leftOutNote(document, sendable));
    return opened;
  }

  /** @param {Keeper} keeper @param {Entry} entry @returns {Promise<boolean>} whether it is in view */
  async function open(keeper, { key, kind }) {
    if (!showTab(tabs[kind])) throw new Error('This page has no model for this text: choose one under Settings first.');
    return keeper.open(key, { isShown: true, bring: true });
  }

  /** @param {Keeper} keeper */
  async function restore(keeper) {
    const keys = Object.entries(keeper.keys()).filter(([kind, key]) => key && tabs[kind]);
    awaitTabs(keys.map(([kind]) => tabs[kind]));
    if (!keys.length) return;
    await new Promise((resolve) => connected.subscribe(null, resolve));
    const isShown = (kind) => tabs[kind] === shownTab.latest;
    const isLink = ['prompt', 'comparison'].some((name) => partOf(name) !== null); // for the tab in sight
    for (const [kind, key] of keys.toSorted(([one], [other]) => Number(isShown(other)) - Number(isShown(one)))) {
      if (isLink && isShown(kind) && kind !== 'chat') keeper.setKey(kind, ''); // the link's text takes its place, and it stays in the list
      else await keeper.open(key, { isShown: isShown(kind), bring: isShown(kind) && !isModelChosen() });
      await new Promise(requestAnimationFrame);
      awaitTabs([...awaited].filter((name) => name !== tabs[kind]));
    }
  }
}

/** Whether the address is about a model, which ui/models/picker.js brings. */
const isModelChosen = () => Boolean(partOf('model') || history.state?.model);
