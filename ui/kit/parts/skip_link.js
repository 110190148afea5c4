/**
 * The page's first link, past all buttons: to the text box of the tab in sight, or in Learn to the chapter.
 */

import { findVisible, make } from '../js/dom.js';
import { shownTab } from '../js/signals.js';

/** @param {string} targets selects the tabs' text boxes and the chapter's title */
export function addSkipLink(targets) {
  const link = make('a', { class: 'at-skip', href: '#attend-main', text: 'Skip to the text box', onclick: (event) => {
    event.preventDefault(); // the address stays as it is
    findVisible(targets)?.focus();
  } });
  shownTab.subscribe(null, (tab) => { link.textContent = tab === 'Learn' ? 'Skip to the chapter' : 'Skip to the text box'; });
  document.body.prepend(link);
}
