/**
 * A message that was typed but not sent survives a reload: the visitor's own, and the one after a restart of the server or
 * the end of a sign-in. The browser's tab keeps it until then, unless the visitor wants nothing kept.
 */

import { onceConnected } from '../kit/address/address.js';
import { remembered } from '../kit/js/storage.js';

const UNSENT = 'attend-unsent'; // in sessionStorage

/** As if the visitor had typed it. @param {HTMLTextAreaElement} box @param {string} text */
export function type(box, text) {
  box.value = text;
  box.dispatchEvent(new Event('input', { bubbles: true }));
}

/** @param {() => HTMLTextAreaElement | null} findBox */
export function keepUnsent(findBox) {
  const text = keptText();
  keepText('');
  if (text && isReturn()) {
    onceConnected(() => {
      const box = findBox();
      if (box && !box.value) type(box, text);
    });
  }
  addEventListener('pagehide', () => {
    if (remembered('history', 'kept') === 'kept') keepText(findBox()?.value ?? '');
  });
}

/** Whether this was a reload, or Back and Forward, and not a link. */
const isReturn = () => performance.getEntriesByType('navigation').some((entry) => /** @type {any} */ (entry).type !== 'navigate');

function keptText() {
  try {
    return sessionStorage.getItem(UNSENT) ?? '';
  } catch {
    return ''; // forbidden, as in a frame
  }
}

/** @param {string} text "" for none */
function keepText(text) {
  try {
    if (text) sessionStorage.setItem(UNSENT, text);
    else sessionStorage.removeItem(UNSENT);
  } catch {
    // then it is gone
  }
}
