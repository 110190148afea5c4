/**
 * When the server can't be reached, a line says so until the server answers again. Then the page reloads and restores what the
 * browser has saved. Until then it sends nothing, so that no text is lost.
 */

import { around, make, makeButton } from '../kit/js/dom.js';
import { connectionLost } from '../kit/js/signals.js';
import { isSaving } from '../kit/js/storage.js';

const DELAYS_MS = [1000, 2000, 4000, 8000, 15_000]; // before each attempt; the last one repeats
const SENTENCE = 'The server can’t be reached. The page keeps trying and brings your texts back once it answers.';
const ALONE = 'The server can’t be reached. The page keeps trying.';
const UNSAVED = 'The server is back. The history is off, so reloading clears this page: copy what you need first.';

/**
 * A `fetch` that notices when the server is gone.
 * @param {typeof fetch} ask the browser's own
 * @param {() => void} lose called when the server is gone, perhaps more than once
 * @param {() => boolean} isLost whether the page is about to reload
 * @returns {typeof fetch}
 */
export function noticeLoss(ask, lose, isLost) {
  const never = () => /** @type {Promise<Response>} */ (new Promise(() => {}));
  return async (resource, options) => {
    const address = resource instanceof Request ? resource.url : String(resource);
    if (address.includes('/gradio_api/app_id')) lose(); // Gradio asks once its own stream has ended
    if (isLost() && /\/gradio_api\/(app_id|queue\/)/.test(address)) return never();
    try {
      return await ask(resource, options);
    } catch (error) {
      if (!address.includes('/queue/join') || !(error instanceof TypeError)) throw error;
      lose();
      return never();
    }
  };
}

/** @param {typeof fetch} ask the browser's own @returns {typeof fetch} what the page uses from now on */
export function watchConnection(ask) {
  let isLost = false;
  let isLeaving = false;
  let retry = () => {}; // ends the wait before the next attempt
  let press = () => retry();
  const words = make('span', {});
  const button = makeButton('Try now', () => press());
  const line = make('div', { class: 'at-offline at-row at-wrap at-view', role: 'alert' }, words, button);
  addEventListener('pagehide', () => {
    isLeaving = true;
  });
  addEventListener('pageshow', () => {
    isLeaving = false;
  });

  async function lose() {
    if (isLost || isLeaving) return;
    isLost = true;
    const saving = /** @type {Promise<unknown>[]} */ ([]);
    connectionLost.publish({ until: (saved) => saving.push(saved) });
    document.body.toggleAttribute('data-offline', true);
    words.textContent = isSaving() ? SENTENCE : ALONE;
    document.body.prepend(line);
    addEventListener('online', () => retry());
    document.addEventListener('visibilitychange', () => document.hidden || retry());
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || !around(event, 'textarea')) return;
      event.preventDefault(); // the text stays in its box
      event.stopImmediatePropagation();
      retry();
    }, true);
    await Promise.allSettled(saving);
    for (let attempt = 0; !(await isThere()); attempt += 1) await rest(DELAYS_MS[Math.min(attempt, DELAYS_MS.length - 1)]);
    if (isSaving()) return location.reload();
    words.textContent = UNSAVED;
    button.textContent = 'Reload';
    press = () => location.reload();
  }

  const isThere = () => ask(new URL('healthz', document.baseURI)).then(({ ok }) => ok, () => false);

  /** @param {number} delay @returns {Promise<void>} */
  const rest = (delay) => new Promise((go) => {
    retry = () => go();
    setTimeout(go, delay);
  });

  return noticeLoss(ask, lose, () => isLost);
}
