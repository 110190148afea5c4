/**
 * The page's address. Each part of it belongs to one script, which takes it when the page is opened, writes it, and follows
 * it on Back and Forward: `tab`, `chapter`, `glossary`, `model`, `prompt`, `comparison`, and the settings by their names.
 *
 * Another tab, chapter or model is a new entry of the browser's history; everything else changes the entry at hand. An
 * entry also keeps what only this browser may know (`history.state`), such as a model's folder.
 *
 * @typedef {Record<string, string | number | null>} Parts by their names; null: without it
 */

import { around } from '../js/dom.js';

export const MAX_PROMPT = 2000; // characters that a link carries, since servers and mail programs cut longer ones
const GRADIO_PARAMETERS = new Set(['view', 'deep_link']);

/** Parts whose scripts have yet to start: on a busy machine that may be long after the page is drawn. */
const awaited = new Set(['tab', 'model', 'prompt', 'glossary', 'chapter', 'numbers', 'comparison']);

/** @type {[string, string][]} what nobody has taken so far */
let left = typeof location === 'undefined' ? [] : entriesOf(location.search);

/** @param {string} search @returns {[string, string][]} */
function entriesOf(search) {
  return [...new URLSearchParams(search)].filter(([name]) => !name.startsWith('__') && !GRADIO_PARAMETERS.has(name));
}

/**
 * Take what is understood of the address that the page was opened with.
 * @param {(name: string, value: string) => boolean} understands
 */
export function takeParts(understands) {
  left = left.filter(([name, value]) => !understands(name, value));
}

/**
 * @param {string} name
 * @param {(value: string) => boolean} isValid
 * @returns {string | null} null where the page was opened without it, or with nothing valid
 */
export function takePart(name, isValid) {
  let taken = null;
  awaited.delete(name);
  takeParts((other, value) => {
    const isMine = other === name && isValid(value);
    if (isMine) taken = value;
    return isMine;
  });
  return taken;
}

/** What nobody understood of it, as names and values; final once `areJudged`. */
export const untaken = () => left;

/** Whether everyone who might understand a part of it has looked. */
export const areJudged = () => !left.some(([name]) => awaited.has(name));

/** What the address says now. @param {string} name @returns {string | null} */
export const partOf = (name) => new URLSearchParams(location.search).get(name);

/**
 * An address with other parts.
 * @param {string} address
 * @param {Parts} parts
 */
export function withParts(address, parts) {
  const changed = new URL(address);
  for (const [name, value] of Object.entries(parts)) {
    if (value === null) changed.searchParams.delete(name);
    else changed.searchParams.set(name, String(value));
  }
  return changed.href;
}

/**
 * Write parts of the address.
 * @param {Parts} parts
 * @param {{isNew?: boolean, kept?: Record<string, unknown>}} options whether Back leads to what was there before, and what
 *   the entry keeps beside its address
 */
export function writeParts(parts, { isNew = false, kept = {} } = {}) {
  const address = withParts(location.href, parts);
  const state = { ...history.state, ...kept };
  const isKept = Object.entries(kept).every(([name, value]) => history.state?.[name] === value);
  if (address === location.href && isKept) return;
  if (isNew) history.pushState(state, '', address);
  else history.replaceState(state, '', address);
}

/** Go to another part of the page, as Back and Forward do. @param {Parts} parts */
export function moveTo(parts) {
  writeParts(parts, { isNew: true });
  dispatchEvent(new PopStateEvent('popstate', { state: history.state }));
}

/** Whether the address can't name the model in use, which only this browser knows. */
export const isModelNameless = () => Boolean(history.state?.model) && partOf('model') === null;

/** What a link brought leaves the address once the visitor is at work with it. @param {string} name */
export function removeOnceWorking(name) {
  const working = new AbortController();
  for (const type of ['keydown', 'pointerdown']) {
    document.addEventListener(type, (event) => {
      if (event.defaultPrevented || around(event, '.at-tour, #attend-keys, #attend-keys-dialog')) return; // help is no work
      working.abort();
      writeParts({ [name]: null });
    }, { signal: working.signal });
  }
}

/**
 * @param {() => void} handler called after Back and Forward
 * @param {{isFirst?: boolean}} options whether before the others: the server judges a tab by the model that is coming
 */
export const whenMoved = (handler, { isFirst = false } = {}) => addEventListener('popstate', handler, { capture: isFirst });

/** @param {() => void} handler called once Gradio hears what components trigger */
export function onceConnected(handler) {
  if (document.body.hasAttribute('data-connected')) handler();
  else document.addEventListener('attend-connected', handler, { once: true });
}
