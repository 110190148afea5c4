/**
 * Write's box keeps its newest text in view while the model writes in it, unless the reader has scrolled up. From the click on it
 * is read-only, since the first word would overwrite what is typed before it.
 */

import { mayChangeText } from '../kit/address/class_part.js';
import { around } from '../kit/js/dom.js';
import { connectionLost, inspectedToken, writtenText } from '../kit/js/signals.js';
import { followEnd } from '../kit/parts/follow_end.js';
import { STARTS } from './ended.js';

/** @param {HTMLTextAreaElement} box disabled while the model writes; the browser itself keeps typed text in view */
export function followWriting(box) {
  const end = followEnd(box);
  let isWriting = false; // from the click on
  let hadFocus = false; // at the click; a disabled box loses it
  let runBefore = /** @type {string | null} */ (null); // the run in the inspector at the click
  const reply = new MutationObserver((changes) => {
    if (changes.some(({ type, addedNodes }) => type === 'attributes' || [...addedNodes].some(holdsNotice))) release();
  });

  document.addEventListener('click', (event) => {
    if (!around(event, STARTS)) return;
    isWriting = true;
    end.follow(true);
    hadFocus = document.activeElement === box;
    runBefore = inspectedToken.latest?.run ?? null;
    box.readOnly = true;
    box.title = 'The model is about to write here';
    reply.observe(box, { attributeFilter: ['disabled'] });
    reply.observe(document.body, { childList: true, subtree: true }); // a refusal is a notice, and nothing else
  });
  box.addEventListener('input', () => { isWriting = false; }); // the visitor types: the click was refused
  connectionLost.subscribe(box, release);
  inspectedToken.subscribe(box, ({ run, busy }) => {
    if (isWriting && run !== runBefore && !busy) release(); // a short text may come at once, and never disable the box
  });
  writtenText.subscribe(box, () => {
    if (!isWriting) return;
    end.follow(false);
    if (!box.disabled && !box.title) { // with the last words it is enabled again
      isWriting = false;
      if (hadFocus && document.activeElement === document.body) box.focus({ preventScroll: true });
    }
  });

  /** The click was answered. */
  function release() {
    reply.disconnect();
    box.readOnly = !mayChangeText();
    box.title = '';
  }
}

/** @param {Node} node */
const holdsNotice = (node) => node instanceof Element && (node.matches('.toast-body') || node.querySelector('.toast-body') !== null);
