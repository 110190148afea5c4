/**
 * The note that the inspector shows a file, with a button to close it.
 */

import { make } from '../kit/js/dom.js';
import { visibleText } from '../kit/js/text.js';

export function makeOpenedNote() {
  const words = make('span', {});
  const close = make('button', { type: 'button', class: 'at-plain', text: 'Close file',
    onclick: () => document.dispatchEvent(new Event('attend-refresh')) });
  const node = make('p', { class: 'at-row at-wrap at-between at-gap-xs at-sm at-quiet at-example-note at-opened', hidden: true }, words, close);

  /** @param {string} file its name; '' where the run is the page's own */
  function show(file) {
    node.hidden = !file;
    if (file) requestAnimationFrame(() => node.scrollIntoView({ block: 'center' })); // it was opened from below
    words.textContent = `You’re viewing ${visibleText(file)}, a saved run. Your own texts are still here.`;
  }
  return { node, show };
}
