/**
 * The note of an empty inspector.
 */

import { make } from '../kit/js/dom.js';

export function makeEmptyNote() {
  const title = make('p', { class: 'at-empty-title' });
  const detail = make('p', { class: 'at-quiet' });
  const node = make('div', { class: 'at-empty' }, title, detail);

  /** @param {string} [unloaded] the model that wrote the text, no longer loaded */
  function explain(unloaded) {
    title.textContent = unloaded ? `${unloaded} wrote this, but is no longer loaded.` : 'Nothing to inspect yet.';
    detail.textContent = unloaded
      ? 'Choose it again to inspect these tokens. Tokens from the current model will appear here, too.'
      : 'Once the model has written something, click any token to see which others were possible and where the '
        + 'model looked.';
  }

  explain();
  return { node, explain };
}
