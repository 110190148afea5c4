/**
 * Documents in and out of a shared file: one HTML page that shows a run, a translation or a comparison without a server (ui/share/).
 */

/** @import { RunDocument } from '../../../decoding/run/run_document' */
/** @import { AnsweredQuestion } from '../why/why_contract' */

import { download, notify } from '../../kit/js/transfer.js';

const PLACE = '{document}';
// A document's “<” is escaped, so the first one ends it; nothing of a stranger's page is parsed as HTML.
const DOCUMENT = /<script\b[^<>]*\bid="attend-document"[^<>]*>([^<]*)</;
const MAX_RUNS = 12; // of a file: twice as many as Compare has cards
export const MAX_SENT = 990_000; // bytes of a document in a request; the server takes requests of 1,000,000
const LARGE = 5e6; // bytes of a page whose size is said

/** @typedef {'run' | 'translation' | 'explained' | 'comparison'} Kind of a shared file; each has its own page */

/** @type {Map<Kind, Promise<string>>} */
const templates = new Map();

/**
 * Hand a document to the browser as a shared file; it is made here, and nothing is sent.
 * @param {HTMLElement} button says why where that fails
 * @param {Kind} kind
 * @param {string[]} name words that name the file
 * @param {string} json
 */
export async function shareFile(button, kind, name, json) {
  let page;
  try {
    page = new Blob([withDocument(await template(kind), json)]);
  } catch {
    templates.delete(kind); // the next click tries again
    return notify(button, 'The server can’t be reached, so the page could not be made: try again.');
  }
  download(name, 'html', page);
  if (page.size > LARGE) notify(button, sizeNote(page.size, json));
}

/**
 * @param {HTMLElement} button see `shareFile`
 * @param {[name: string[], json: string]} file the run document
 * @param {Partial<AnsweredQuestion>[]} why what was answered about its tokens
 */
export function shareRun(button, [name, json], why) {
  if (why.length) return shareFile(button, 'explained', name, JSON.stringify({ ...JSON.parse(json), why }));
  return shareFile(button, JSON.parse(json).source?.length ? 'translation' : 'run', name, json);
}

/** @param {Kind} kind */
function template(kind) {
  const before = templates.get(kind) ?? fetch(new URL(`attend-shared-page/${kind}`, document.baseURI)).then((response) => {
    if (!response.ok) throw new Error(response.statusText);
    return response.text();
  });
  templates.set(kind, before);
  return before;
}

/** The size of a page, what makes it large, and how to make it smaller. @param {number} size in bytes @param {string} json its document */
export function sizeNote(size, json) {
  const { cards, ...run } = JSON.parse(json);
  const runs = cards?.map((card) => card.run) ?? [run];
  const attention = runs.reduce((sum, { attention: maps }) => sum + (maps?.rows.join('').length ?? 0), 0);
  const [whole, part] = [size, attention].map((bytes) => (bytes / 1e6).toFixed(1));
  return `This page is ${whole} MB, of which ${part} MB is attention. Shorter texts take less.`;
}

/** @param {string} page @param {string} json */
export const withDocument = (page, json) =>
  page.replace(PLACE, () => json.trim().replaceAll('<', '\\u003c')); // a function: in a text, $& has a meaning

/** The JSON in a file: of a page, that of its document. @param {string} text */
const jsonIn = (text) => (/^\s*<!doctype html/i.test(text) ? DOCUMENT.exec(text)?.[1] ?? text : text);

/**
 * What is in a file. `runs`: its run documents as JSON, of a shared file or a saved run the one that it has, of a comparison those of
 * its cards. `comparison`: that of a shared file, whose cards have what they show beside their runs; null in any other file.
 * @param {string} text @returns {{runs: string[], comparison: Record<string, any> | null}}
 */
export function contentOf(text) {
  const json = jsonIn(text);
  try {
    const content = JSON.parse(json), { cards } = content;
    if (Array.isArray(cards) && cards.length) {
      const isShared = cards.length <= MAX_RUNS && cards.every((card) => card?.run && card.result);
      return {
        runs: cards.slice(0, MAX_RUNS).map((card) => JSON.stringify(card?.run ?? card?.trace ?? null)), comparison: isShared ? content : null,
      };
    }
  } catch {
    // the server says that the file is not JSON
  }
  return { runs: [json], comparison: null };
}

/**
 * A run document as it can be sent: if it is too large, without its attention or its beams.
 * @param {string} json
 * @returns {{text: string, without: '' | 'attention' | 'beams', attention: RunDocument['attention'] | null}} `text`: "" if it is still
 *   too large; `attention`: what was left out of it and can be shown all the same; `without`: what was left out last and can't
 */
export function sendable(json) {
  const fits = () => new TextEncoder().encode(JSON.stringify(text)).length <= MAX_SENT; // as a string of the request
  let text = json;
  let without = /** @type {'' | 'attention' | 'beams'} */ ('');
  let attention = null;
  try {
    const content = JSON.parse(json);
    delete content.why; // the answers to Why? stay in the file
    // In the first form of the document each beam had all of its tokens; its parents have those before its own.
    content.beams = content.beams?.map((step) => step.map((beam) => ({ ...beam, ids: beam.ids?.slice(-1) })));
    text = JSON.stringify(content);
    for (const part of ['attention', 'search', 'beams']) {
      if (!content[part] || fits()) continue;
      if (part === 'attention' && isWhole(content)) attention = content.attention;
      else without = part === 'attention' ? part : 'beams';
      delete content[part];
      text = JSON.stringify(content);
    }
  } catch {
    // the server says that the file is not JSON
  }
  return { text: fits() ? text : '', without, attention };
}

/**
 * Whether every step has a row of one byte for each layer, head and key, as decoding/run/reader.py asks of what is sent.
 * @param {RunDocument} run a file's, which nobody has checked
 */
function isWhole({ attention, steps, source = [], prompt, ids }) {
  try {
    const before = source.length + prompt.ids.length + ids.length - steps.length;
    const maps = attention.layers * attention.heads;
    return attention.rows.length === steps.length && attention.rows.every((row, number) => atob(row).length === maps * (before + number));
  } catch {
    return false;
  }
}
