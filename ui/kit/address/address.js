/**
 * The page's address. Each part of it belongs to one script, which takes it when the page is opened, writes it, and follows
 * it on Back and Forward: `tab`, `chapter`, `glossary`, `model`, `weights`, `prompt`, `comparison`, `class`, and the
 * settings by their names.
 *
 * Another tab, chapter or model is a new entry of the browser's history; everything else changes the entry at hand. An
 * entry also keeps what only this browser may know (`history.state`), such as a model's folder.
 *
 * @typedef {Record<string, string | number | null>} Parts by their names; null: without it
 */

import { around } from '../js/dom.js';
import { currentModel } from '../js/signals.js';

export const MAX_PROMPT = 2000; // characters in a link: servers and mail programs cut longer links
const GRADIO_PARAMETERS = new Set(['view', 'deep_link']);

/** Parts whose scripts have yet to start: on a busy machine that may be long after the page is drawn. */
const awaited = new Set(['tab', 'model', 'weights', 'prompt', 'glossary', 'chapter', 'numbers', 'comparison', 'class']);

/** @type {[string, string][]} the parts that no script has taken so far */
let untakenParts = typeof location === 'undefined' ? [] : entriesOf(location.search);

/** @param {string} search @returns {[string, string][]} */
function entriesOf(search) {
  return [...new URLSearchParams(search)].filter(([name]) => !name.startsWith('__') && !GRADIO_PARAMETERS.has(name));
}

/**
 * Take the parts that a script understands from the address that the page was opened with.
 * @param {(name: string, value: string) => boolean} understands
 */
export function takeParts(understands) {
  untakenParts = untakenParts.filter(([name, value]) => !understands(name, value));
}

/**
 * @param {string} name
 * @param {(value: string) => boolean} isValid
 * @returns {string | null} null if the page was opened without it, or with an invalid value
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

/** The parts that no script understood, as names and values; final once `areJudged`. */
export const untaken = () => untakenParts;

/** Whether every script that might understand one of these parts has looked at it. */
export const areJudged = () => !untakenParts.some(([name]) => awaited.has(name));

/** The current value of a part. @param {string} name @returns {string | null} */
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
 * @param {{isNew?: boolean, kept?: Record<string, unknown>, hash?: string}} options `isNew`: Back leads to the entry before; `kept`: what the
 *   entry keeps beside its address; `hash`: the address's end, from # on
 */
export function writeParts(parts, { isNew = false, kept = {}, hash = location.hash } = {}) {
  const address = withParts(new URL(hash, location.href).href, parts);
  const state = { ...history.state, ...kept };
  const isKept = Object.entries(kept).every(([name, value]) => history.state?.[name] === value);
  if (address === location.href && isKept) return;
  if (isNew) history.pushState(state, '', address);
  else history.replaceState(state, '', address);
}

/** Go to another part of the page, as Back and Forward do. @param {Parts} parts @param {string} [hash] see `writeParts` */
export function moveTo(parts, hash) {
  writeParts(parts, { isNew: true, hash });
  dispatchEvent(new PopStateEvent('popstate', { state: history.state }));
}

/** What a link says of the model in use, so that another page knows whether it has it. @returns {Parts} */
export const modelParts = () => ({ model: currentModel.latest?.linked || null, weights: currentModel.latest?.checksum || null });

/** Whether a link can't name the model in use. */
export const isModelNameless = () => !currentModel.latest?.linked;

/** Remove what a link brought from the address once the visitor starts to work with it. @param {string} name */
export function removeOnceWorking(name) {
  const working = new AbortController();
  for (const type of ['keydown', 'pointerdown']) {
    document.addEventListener(type, (event) => {
      if (event.defaultPrevented || around(event, '.at-tour, #attend-keys, #attend-keys-dialog')) return; // asking for help is no work
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
