/**
 * A part of the page that a button opens and closes; Escape closes it, too, and leads back to the button.
 */

import { closeOnEscape } from '../js/keys.js';

/**
 * @param {HTMLElement} button
 * @param {HTMLElement} part closed at first
 * @param {() => HTMLElement} firstField takes the focus when the part is opened
 * @returns {(isOpen: boolean) => void} opens or closes it
 */
export function foldOut(button, part, firstField) {
  /** @param {boolean} isOpen */
  function open(isOpen) {
    part.hidden = !isOpen;
    button.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) firstField().focus();
  }

  button.addEventListener('click', () => open(part.hidden));
  closeOnEscape(part, () => {
    open(false);
    button.focus();
  });
  open(false);
  return open;
}
