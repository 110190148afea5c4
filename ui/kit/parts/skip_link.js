/**
 * The page's first link, past all buttons: to the text box of the tab in sight, or in Learn to the chapter.
 */

import { make } from '../js/dom.js';
import { shownTab } from '../js/signals.js';

const CHAPTER = '.at-lesson-body h2';

/** @param {string} boxes selects the tabs' text boxes */
export function addSkipLink(boxes) {
  const link = make('a', { class: 'at-skip', href: '#attend-main', text: 'Skip to the text box', onclick: (event) => {
    event.preventDefault(); // the address stays as it is
    const targets = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(`${boxes}, ${CHAPTER}`));
    [...targets].find((target) => target.checkVisibility())?.focus();
  } });
  shownTab.subscribe(null, (tab) => { link.textContent = tab === 'Learn' ? 'Skip to the chapter' : 'Skip to the text box'; });
  document.body.prepend(link);
}
