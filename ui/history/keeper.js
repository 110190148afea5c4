/**
 * Saves what the tabs show in the visitor's browser, and restores it.
 *
 * Which document each tab shows belongs to the browser's tab (its `sessionStorage`). Two of them may show the same one, as
 * after "Duplicate tab". If another tab has written the document meanwhile, this one saves it under a new name, so nothing
 * is overwritten.
 */

/** @import { DocumentValue } from './history_contract' */
/** @import { Store } from './store.js' */

import { keepOverReload, keptOverReload } from '../kit/js/storage.js';
import { isSame, keysToEvict, sizeOf, withRuns } from './documents.js';
import { rescued } from './rescue.js';

const SHOWN = 'shown'; // over a reload: the key of each kind's document
const DEBOUNCE_MS = 300; // how long a text must rest before it is saved
const GROWING_MS = 4000; // between two saved states of a growing text

/**
 * Puts a document in place of what its tab shows, and says whether it is in view: `isShown` where that tab is in sight,
 * `bring` where its model is to be loaded first.
 * @typedef {(document: DocumentValue, how: {isShown: boolean, bring: boolean}) => Promise<boolean>} Present
 */

export class Keeper {
  #store;
  #questions;
  #present;
  #report;
  /** @type {Record<string, string>} the key of the document that each kind shows */
  #shown = {};
  /** @type {Map<string, number>} of the documents that this tab has read or written */
  #revisions = new Map();
  /** @type {Map<string, {timer: number, question: number}>} by kind */
  #pending = new Map();
  #writing = Promise.resolve();
  isKeeping = true;

  /**
   * @param {Store} store
   * @param {import('../kit/js/questions.js').Questions} questions
   * @param {Present} present
   * @param {(problem: string) => void} report what went wrong, "" for nothing
   */
  constructor(store, questions, present, report) {
    this.#store = store;
    this.#questions = questions;
    this.#present = present;
    this.#report = report;
    this.#shown = rememberedShown();
  }

  /** The keys of what is in view. */
  get shown() {
    return { ...this.#shown };
  }

  /**
   * Save a tab's text once it has come to rest, and every few seconds while it grows, since the page may be closed.
   * @param {{kind: string, isEmpty: boolean, isGrowing?: boolean}} text
   */
  follow({ kind, isEmpty, isGrowing = false }) {
    const pending = this.#pending.get(kind) ?? { timer: 0, question: 0 };
    const keep = () => this.#keep(kind).catch(this.#failed);
    clearTimeout(pending.timer);
    this.#questions.drop(pending.question);
    if (isEmpty || !this.isKeeping) this.show(kind, '');
    else pending.timer = isGrowing ? window.setInterval(keep, GROWING_MS) : window.setTimeout(keep, DEBOUNCE_MS);
    this.#pending.set(kind, pending);
  }

  /**
   * Save what a tab shows without the server, which can't be reached.
   * @param {import('./rescue.js').Interrupted} shown @param {string} model in use
   */
  async rescue(shown, model) {
    const pending = this.#pending.get(shown.kind);
    clearTimeout(pending?.timer);
    this.#questions.drop(pending?.question ?? 0);
    if (!this.isKeeping) return;
    await this.#writing;
    const key = this.#shown[shown.kind] || newKey();
    const before = (await this.#store.read(key))?.document;
    await this.#write(rescued(before, shown, { key, model }), before).catch(this.#failed);
  }

  /** @param {string} kind @param {string} key of its document; "" for none */
  show(kind, key) {
    this.#shown[kind] = key;
    keepOverReload(SHOWN, JSON.stringify(this.#shown));
  }

  /** What is in view is no longer kept, if it is among these. @param {string[]} keys */
  forget(keys) {
    for (const [kind, key] of Object.entries(this.#shown)) if (keys.includes(key)) this.show(kind, '');
    for (const key of keys) this.#revisions.delete(key);
  }

  /**
   * Restore a document.
   * @param {string} key
   * @param {Parameters<Present>[1]} how
   * @returns {Promise<boolean>} whether it is in view
   */
  async open(key, how) {
    const kept = await this.#store.read(key);
    if (!kept) return false;
    const { entry, document } = kept;
    const opened = await this.#present(document, how);
    if (opened) {
      this.#revisions.set(key, entry.revision);
      this.show(entry.kind, key);
    }
    return opened;
  }

  /** @param {string} kind @param {string} [key] its new name */
  async #keep(kind, key = '') {
    const before = (await this.#store.read(this.#shown[kind] ?? ''))?.document;
    const request = { kind, known: Object.keys(before?.runs ?? {}), key };
    const question = this.#questions.ask('keep', request, ({ document, busy }) => {
      if (!busy) clearTimeout(this.#pending.get(kind)?.timer); // nothing grows
      if (document && this.isKeeping) this.#writing = this.#writing.then(() => this.#write(document, before)).catch(this.#failed);
    }, {});
    const pending = this.#pending.get(kind) ?? { timer: 0, question: 0 };
    this.#questions.drop(pending.question);
    this.#pending.set(kind, { ...pending, question });
  }

  /** @param {DocumentValue} document @param {DocumentValue | undefined} before what the tab showed */
  async #write(document, before) {
    const { key, kind, title, model } = document;
    this.show(kind, key); // at once, since the page may be closed at any time
    const old = await this.#store.read(key);
    const whole = withRuns(document, old?.document, before);
    if (!isSame(whole, old?.document)) {
      const size = sizeOf(whole);
      const entry = { key, kind, title, name: old?.entry.name ?? '', model, changed: Date.now(), size };
      const revision = await this.#store.write(entry, whole, this.#revisions.get(key) ?? 0);
      if (revision === null) return this.#keep(kind, newKey());
      this.#revisions.set(key, revision);
    }
    await this.evict();
    this.#report('');
  }

  /** Delete the oldest documents over the limits, but none in view. @returns {Promise<number>} how many */
  async evict() {
    const keys = keysToEvict(await this.#store.list(), Object.values(this.#shown));
    await this.#store.remove(keys);
    return keys.length;
  }

  #failed = (/** @type {Error} */ error) => {
    const isFull = error.name === 'QuotaExceededError';
    this.#report(isFull ? 'Browser storage is full. Delete something from the history.'
      : 'Couldn’t save the last change in this browser.');
  };
}

const newKey = () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** @returns {Record<string, string>} */
function rememberedShown() {
  try {
    return JSON.parse(keptOverReload(SHOWN) || '{}');
  } catch {
    return {}; // not of this page
  }
}
