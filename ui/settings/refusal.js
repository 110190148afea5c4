/**
 * Shows beside the buttons that begin a run why the run would be refused, before one is pressed.
 */

const BUTTONS = '#attend-send, #attend-continue, #attend-translate-tools button.primary, #attend-compare-go';

/** @param {string} sentence '' where nothing is wrong */
export function warnOnButtons(sentence) {
  for (const button of document.querySelectorAll(BUTTONS)) {
    if (sentence === (button.getAttribute('data-refusal') ?? '')) continue;
    for (const name of ['data-refusal', 'aria-description']) {
      if (sentence) button.setAttribute(name, sentence);
      else button.removeAttribute(name);
    }
  }
}
