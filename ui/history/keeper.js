/**
 * Saves what the tabs show in the visitor's browser, and restores it.
 *
 * Which document each tab shows belongs to the browser's tab (its `sessionStorage`). Two of them may show the same one, as
 * after "Duplicate tab". If another tab has written the document meanwhile, this one saves it under a new name, so nothing
 * is overwritten.
 *
 * @typedef {(document: DocumentValue, how: {isShown: boolean, bring: boolean}) => Promise<boolean>} Present puts a document in
 *   place of what its tab shows, and returns whether it is in view; `isShown`: that tab is in sight; `bring`: the document's
 *   model is to be loaded first
 * @typedef {ReturnType<typeof makeKeeper>} Keeper
 * @typedef {{timer: number, question: number, isGrowing: boolean, isWritten: boolean, isAsked: boolean, isDeleted?: boolean}} Pending a
 *   text that is about to be saved; `isWritten`: the model has written something that was not yet asked for; `isAsked`: that was
 *   asked for, and the reply has yet to come
 */

/** @import { Questions } from '../kit/js/questions.js' */
/** @import { DocumentValue } from './history_contract' */
/** @import { Interrupted } from './rescue.js' */
/** @import { Store } from './store.js' */

import { isSaving, keepOverReload, keptObject, setSaving } from '../kit/js/storage.js';
import { isSame, keysToEvict, sizeOf, withRuns } from './documents.js';
import { rescued } from './rescue.js';

const SHOWN = 'shown'; // the name in `sessionStorage` of the keys in view
const DEBOUNCE_MS = 300; // how long a text must rest before it is saved
const GROWING_MS = 4000; // between two saved states of a growing text

/**
 * @param {Store} store
 * @param {Questions} questions
 * @param {Present} present
 * @param {(problem: string) => void} report called with what went wrong, or with "" after a success
 */
export function makeKeeper(store, questions, present, report) {
  const keysInView = /** @type {Record<string, string>} by kind */ (keptObject(SHOWN));
  /** @type {Map<string, number>} of the documents that this tab has read or written */
  const revisions = new Map();
  /** @type {Record<string, Pending>} of the text that each tab shows, by kind */
  const pending = {};
  let writing = Promise.resolve();
  let isKeeping = isSaving();

  /** @param {string} kind */
  const pendingOf = (kind) => pending[kind] ??= { timer: 0, question: 0, isGrowing: false, isWritten: false, isAsked: false };

  /** @param {Pending} now */
  function cancel(now) {
    clearTimeout(now.timer);
    questions.drop(now.question);
  }

  /** @param {Error} error */
  function reportFailure(error) {
    report(error.name === 'QuotaExceededError' ? 'Browser storage is full. Delete something from the history.'
      : 'Couldn’t save the last change in this browser.');
  }

  /**
   * Save a tab's text as soon as it has been written, once it has come to rest while a person types, and every few seconds
   * while it grows, since the page may be closed.
   * @param {{kind: string, isEmpty: boolean, isGrowing?: boolean}} text
   */
  function follow({ kind, isEmpty, isGrowing = false }) {
    if (isEmpty) leave(kind);
    const now = pendingOf(kind), hasEnded = now.isGrowing && !isGrowing;
    cancel(now);
    const isWritten = now.isWritten || now.isAsked || isGrowing; // a question that asked for it was just dropped
    Object.assign(now, { isGrowing, isWritten, isAsked: false });
    if (isEmpty || !isKeeping) setKey(kind, '');
    else if (isGrowing) now.timer = window.setInterval(() => save(kind), GROWING_MS);
    else now.timer = window.setTimeout(() => save(kind), hasEnded ? 0 : DEBOUNCE_MS);
  }

  /**
   * The tab is about to show another text, or none. What the model has written is saved all the same: the server knows what was
   * cleared last, and a reply that is on its way is still awaited.
   * @param {string} kind
   */
  function leave(kind) {
    const { timer, isWritten } = pendingOf(kind);
    clearTimeout(timer);
    if (isWritten && isKeeping) save(kind);
    delete pending[kind];
  }

  /** @param {string} kind */
  function save(kind) {
    const now = pendingOf(kind);
    now.isAsked ||= now.isWritten;
    now.isWritten = now.isGrowing;
    ask(kind).catch(reportFailure);
  }

  /** Save what a tab shows without asking the server, which can't be reached. @param {Interrupted} text @param {string} model in use */
  async function rescue(text, model) {
    cancel(pendingOf(text.kind));
    if (!isKeeping) return;
    await writing;
    const key = keysInView[text.kind] || newKey();
    const before = (await store.read(key))?.document;
    await write(rescued(before, text, { key, model }), before, pendingOf(text.kind)).catch(reportFailure);
  }

  /** @param {string} kind @param {string} key of the document that its tab shows; "" for none */
  function setKey(kind, key) {
    keysInView[kind] = key;
    keepOverReload(SHOWN, JSON.stringify(keysInView));
  }

  /** These documents were deleted, and are not saved again. @param {string[]} keys @returns {string[]} the kinds of those in view */
  function forget(keys) {
    const kinds = Object.keys(keysInView).filter((kind) => keys.includes(keysInView[kind]));
    for (const kind of kinds) {
      cancel(pendingOf(kind));
      pendingOf(kind).isDeleted = true; // its reply may have come, and wait to be written
      delete pending[kind];
      setKey(kind, '');
    }
    return kinds;
  }

  /**
   * Restore a document.
   * @param {string} key
   * @param {Parameters<Present>[1]} how
   * @returns {Promise<boolean>} whether it is in view
   */
  async function open(key, how) {
    const saved = await store.read(key);
    if (!saved) return false;
    const { kind, revision } = saved.entry, { isGrowing } = pendingOf(kind);
    leave(kind);
    revisions.set(key, revision);
    const isInView = await present(saved.document, how);
    if (isInView) setKey(kind, key);
    else if (isGrowing && !pending[kind]) follow({ kind, isEmpty: false, isGrowing }); // nothing was heard of the text meanwhile
    return isInView;
  }

  /** Ask the server for a tab's document, and write it. @param {string} kind @param {string} [key] its new name */
  async function ask(kind, key = '') {
    const now = pendingOf(kind);
    const before = (await store.read(keysInView[kind] ?? ''))?.document;
    if (now.isDeleted) return;
    const request = { kind, known: Object.keys(before?.runs ?? {}), key };
    const question = questions.ask('keep', request, ({ document, busy }) => {
      now.isAsked = false;
      if (!busy) clearTimeout(now.timer); // nothing grows
      if (document && isKeeping) writing = writing.then(() => write(document, before, now)).catch(reportFailure);
    }, {});
    questions.drop(now.question);
    now.question = question;
  }

  /** @param {DocumentValue} document @param {DocumentValue | undefined} before what the tab showed @param {Pending} text that it is of */
  async function write(document, before, text) {
    if (text.isDeleted) return;
    const { key, kind, title, model } = document, isInView = pending[kind] === text;
    if (isInView) setKey(kind, key); // at once, since the page may be closed at any time
    const saved = await store.read(key);
    const whole = withRuns(document, saved?.document, before);
    if (text.isDeleted) return;
    if (!isSame(whole, saved?.document)) {
      const entry = { key, kind, title, name: saved?.entry.name ?? '', model, changed: Date.now(), size: sizeOf(whole) };
      const revision = await store.write(entry, whole, revisions.get(key) ?? 0);
      if (revision === null) return isInView ? ask(kind, newKey()) : write({ ...document, key: newKey() }, before, text);
      revisions.set(key, revision);
    }
    await evict();
    report('');
  }

  /** Delete the oldest documents over the limits, but none in view. @returns {Promise<number>} how many */
  async function evict() {
    const keys = keysToEvict(await store.list(), Object.values(keysInView));
    await store.remove(keys);
    return keys.length;
  }

  return {
    follow, rescue, setKey, forget, open, evict,
    /** The keys of the documents in view, by kind. */
    keys: () => ({ ...keysInView }),
    get isKeeping() { return isKeeping; },
    /** @param {boolean} isWanted whether texts are saved from now on */
    setKeeping(isWanted) {
      isKeeping = isWanted;
      setSaving(isWanted);
    },
  };
}

const newKey = () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
