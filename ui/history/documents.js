/**
 * Decisions about documents that need no browser: which are deleted when there are too many, what is sent, what a search
 * finds, and all of them as one file.
 */

/** @import { DocumentValue } from './history_contract' */
/** @import { Entry } from './store.js' */

import { counted } from '../kit/js/text.js';

export const MAX_DOCUMENTS = 200;
export const MAX_KEPT = 200_000_000; // bytes of all documents together
export const MAX_SENT = 900_000; // bytes of a document; the server takes requests of 1,000,000

/**
 * The keys of the oldest documents that must go so that the others stay within the limits.
 * @param {Entry[]} entries
 * @param {Iterable<string>} needed keys that stay
 */
export function keysToEvict(entries, needed, { count = MAX_DOCUMENTS, size = MAX_KEPT } = {}) {
  const isNeeded = new Set(needed);
  const oldest = entries.toSorted((one, other) => one.changed - other.changed).filter(({ key }) => !isNeeded.has(key));
  let remaining = entries.length;
  let total = entries.reduce((sum, entry) => sum + entry.size, 0);
  return oldest.filter((entry) => {
    if (remaining <= count && total <= size) return false;
    remaining -= 1;
    total -= entry.size;
    return true;
  }).map(({ key }) => key);
}

/** Bytes of a document. @param {DocumentValue} document */
export const sizeOf = (document) => new TextEncoder().encode(JSON.stringify(document)).length;

/**
 * A document as it can be sent: if it is too large, without its oldest runs, whose texts stay.
 * @param {DocumentValue} document
 */
export function withinLimit(document, most = MAX_SENT) {
  const runs = { ...document.runs };
  const oldest = document.names.filter((name) => name in runs);
  let size = sizeOf(document);
  while (size > most && oldest.length) {
    const name = oldest.shift();
    size -= runs[name].length; // in base64, a byte a character
    delete runs[name];
  }
  return { ...document, runs };
}

/**
 * The notice for a document that was too large to send with all its runs; "" if nothing was left out.
 * @param {DocumentValue} document @param {DocumentValue} sent
 */
export function leftOutNote(document, sent) {
  if (Object.keys(sent.runs).length === Object.keys(document.runs).length) return '';
  const [size, most] = [sizeOf(document), MAX_SENT].map((bytes) => `${counted.format(Math.ceil(bytes / 1000))} kB`);
  return `Some of this text’s tables were not restored: with all of them it takes ${size}, and at most ${most} can be restored. `
    + 'Its text is complete.';
}

/**
 * A new state of a document, with the earlier runs that it still names.
 * @param {DocumentValue} document
 * @param {(DocumentValue | undefined)[]} earlier states, which may have runs that it lacks
 * @returns {DocumentValue}
 */
export function withRuns(document, ...earlier) {
  const sources = [document, ...earlier].map((one) => one?.runs ?? {});
  const runs = document.names.map((name) => [name, sources.find((source) => name in source)?.[name]]);
  return { ...document, runs: Object.fromEntries(runs.filter(([, run]) => run !== undefined)) };
}

/** Whether two states of a document say the same. @param {DocumentValue} one @param {DocumentValue | undefined} other */
export const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** What an entry is called. @param {Entry} entry */
export const displayName = ({ name, title }) => name || title || 'Untitled';

/** The entries whose name has all words, the newest first. @param {Entry[]} entries @param {string} words */
export function search(entries, words) {
  const wanted = words.toLocaleLowerCase().split(/\s+/);
  return entries
    .filter((entry) => wanted.every((word) => displayName(entry).toLocaleLowerCase().includes(word)))
    .toSorted((one, other) => other.changed - one.changed);
}

const SCHEMA = 'attend.history/1';
const LATEST = 8.64e15; // ms since 1970: the last moment that a Date can hold

/** All documents as one file. @param {({entry: Entry, document: DocumentValue} | null)[]} saved null where one can’t be read */
export const exported = (saved) => JSON.stringify({ schema: SCHEMA, kept: saved.filter(Boolean) });

/**
 * The documents that `exported` wrote. The server checks a document again when it is opened.
 * @param {string} text of a file that may hold anything
 * @param {string[]} kinds of documents that the page keeps
 * @returns {{entry: Entry, document: DocumentValue}[]}
 */
export function imported(text, kinds) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (value?.schema !== SCHEMA || !Array.isArray(value.kept) || !value.kept.every((each) => isKept(each, kinds))) {
    throw new Error('This isn’t an Attend history: choose a file saved with “Export all”.');
  }
  return value.kept.map(({ entry: { key, kind, title, name, model, changed, revision }, document }) => ({
    entry: { key, kind, title, name, model, changed, revision, size: sizeOf(document) }, document,
  }));
}

/**
 * The notice after an import.
 * @param {{added: number, known: number, evicted: number}} counts what came, what was here before, and how many of the oldest
 *   had to go
 */
export function importNote({ added, known, evicted }) {
  const oldest = evicted === 1 ? 'the oldest entry was' : `the ${evicted} oldest entries were`;
  return `${added} imported${known ? `, ${known} already here` : ''}.`
    + (evicted ? ` The history holds ${MAX_DOCUMENTS} entries, up to ${MAX_KEPT / 1e6} MB: ${oldest} deleted.` : '');
}

/** @param {any} kept @param {string[]} kinds @returns {boolean} */
function isKept(kept, kinds) {
  const { entry, document } = kept ?? {};
  return ['key', 'kind', 'title', 'name', 'model'].every((field) => typeof entry?.[field] === 'string')
    && entry.changed >= 0 && entry.changed <= LATEST && Number.isFinite(entry.revision) && kinds.includes(entry.kind)
    && document?.key === entry.key && document.kind === entry.kind && typeof document.model === 'string'
    && Array.isArray(document.names) && document.names.every((name) => typeof name === 'string')
    && Object.values(document.runs ?? {}).every((run) => typeof run === 'string');
}
