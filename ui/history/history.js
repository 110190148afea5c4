/**
 * The history: what the visitor's browser keeps of the tabs comes back when the page is opened again. Its events are those
 * of `HistoryReply`.
 *
 * While the visible tab is being restored, the body has `data-restoring`: no example is shown in its place
 * (ui/history/history.css), and the page is not called ready (ui/page/page.js).
 */

/** @import { HistoryForm } from './history_contract' */
/** @import { Present } from './keeper.js' */

import { onceConnected, partOf } from '../kit/address/address.js';
import { find, make } from '../kit/js/dom.js';
import { Questions } from '../kit/js/questions.js';
import { currentModel, documentToOpen, interruptedText, settledText, showTab, shownTab } from '../kit/js/signals.js';
import { isSaving, setSaving } from '../kit/js/storage.js';
import { unpacked } from '../kit/js/values.js';
import { leftOutNote, withinLimit } from './documents.js';
import { Keeper } from './keeper.js';
import { makeList } from './list.js';
import { openStore } from './store.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-history');
  const { tabs } = /** @type {HistoryForm} */ (unpacked(props.form));
  const questions = new Questions((event, data) => trigger(event, data));
  let attempts = 0; // to show a document
  const notice = make('p', { class: 'at-md at-optional at-kept-notice', role: 'alert' });
  let problem = ''; // what went wrong when a text was last kept
  /** @type {Map<string, string>} notices for texts whose tables were not all restored, by tab */
  const leftOut = new Map();
  let awaited = new Set(Object.values(tabs)); // the tabs that something may come back to
  shownTab.subscribe(root, () => {
    markRestoring();
    drawNotice();
  });
  root.replaceChildren(make('span'));
  watch('value', () => props.value && questions.settle(unpacked(props.value)));
  documentToOpen.subscribe(root, ({ document }) => {
    present(/** @type {any} */ (document), { isShown: true, bring: !isModelChosen() });
  });
  openStore().then(keep).catch(() => {}) // a browser that forbids it keeps nothing
    .finally(() => awaitTabs([]));

  /** @param {string[]} names */
  function awaitTabs(names) {
    awaited = new Set(names);
    markRestoring();
  }

  function markRestoring() {
    document.body.toggleAttribute('data-restoring', awaited.has(document.body.dataset.tab));
  }

  /** Say what went wrong, on the page itself, until the next change is kept. @param {string} sentence "" for nothing */
  function warn(sentence) {
    problem = sentence;
    drawNotice();
  }

  /** Show which tables of a tab's text are missing, until the text changes. @param {string} kind @param {string} sentence "" for nothing */
  function noteLeftOut(kind, sentence) {
    leftOut.set(tabs[kind], sentence);
    drawNotice();
  }

  function drawNotice() {
    const sentence = problem || (leftOut.get(document.body.dataset.tab) ?? '');
    if (notice.textContent !== sentence) notice.textContent = sentence;
  }

  /** @param {import('./store.js').Store} store */
  async function keep(store) {
    const keeper = new Keeper(store, questions, present, warn);
    const list = makeList(store, tabs, {
      open: (entry) => open(keeper, entry),
      forget: (keys) => keeper.forget(keys),
      evict: () => keeper.evict(),
      keep(isKeeping) {
        keeper.isKeeping = isKeeping;
        setSaving(isKeeping);
      },
    });
    keeper.isKeeping = isSaving();
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
    let model = '';
    currentModel.subscribe(root, ({ name }) => {
      model = name;
    });
    interruptedText.subscribe(root, ({ until, ...shown }) => until(keeper.rescue(shown, model)));
  }

  /** @type {Present} */
  async function present(document, { isShown, bring }) {
    attempts += 1;
    const sent = withinLimit(document);
    const question = { attempt: attempts, document: sent, shown: isShown, bring };
    const { opened = false } = await new Promise((resolve) => {
      questions.ask('open', question, resolve, { bring: false }); // a model whose loading was cancelled stays away
    });
    if (opened) noteLeftOut(document.kind, leftOutNote(document, sent));
    return opened;
  }

  /** @param {Keeper} keeper @param {import('./store.js').Entry} entry @returns {Promise<boolean>} whether it is in view */
  async function open(keeper, { key, kind }) {
    showTab(tabs[kind]);
    return keeper.open(key, { isShown: true, bring: true });
  }

  /** @param {Keeper} keeper */
  async function restore(keeper) {
    const keys = Object.entries(keeper.shown).filter(([kind, key]) => key && tabs[kind]);
    awaitTabs(keys.map(([kind]) => tabs[kind]));
    if (!keys.length) return;
    await new Promise((resolve) => onceConnected(() => resolve(undefined)));
    const isShown = (kind) => tabs[kind] === document.body.dataset.tab;
    const isLink = ['prompt', 'comparison'].some((name) => partOf(name) !== null); // for the tab in sight
    for (const [kind, key] of keys.toSorted(([one], [other]) => Number(isShown(other)) - Number(isShown(one)))) {
      if (isLink && isShown(kind) && kind !== 'chat') keeper.show(kind, ''); // what its box held stays in the list
      else await keeper.open(key, { isShown: isShown(kind), bring: isShown(kind) && !isModelChosen() });
      await new Promise(requestAnimationFrame);
      awaitTabs([...awaited].filter((name) => name !== tabs[kind]));
    }
  }
}

/** Whether the address is about a model, which ui/models/picker.js brings. */
const isModelChosen = () => Boolean(partOf('model') || history.state?.model);
