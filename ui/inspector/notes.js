/**
 * What the inspector says beside its panels: that it is empty, and that it shows a file.
 */

import { make, makeButton } from '../kit/js/dom.js';
import { fileClosed } from '../kit/js/signals.js';
import { visibleText } from '../kit/js/text.js';

/** The note of an empty inspector. */
export function makeEmptyNote() {
  const title = make('p', { class: 'at-empty-title' });
  const detail = make('p', { class: 'at-quiet' });
  const node = make('div', { class: 'at-empty' }, title, detail);

  /** @param {string} [unloaded] the model that wrote the text, if it is no longer loaded */
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

/** The note that something comes from a file, with a button that closes the file. @param {string} what */
export function makeFileNote(what = 'a saved run') {
  const words = make('span', {});
  const close = makeButton('Close file', () => fileClosed.publish(null));
  const node = make('p', { class: 'at-row at-wrap at-between at-gap-xs at-sm at-quiet at-example-note at-opened', hidden: true }, words, close);

  /** @param {string} file its name; "" for a run that was made on the page */
  function show(file) {
    node.hidden = !file;
    if (file) requestAnimationFrame(() => node.scrollIntoView({ block: 'center' })); // the button that opens files is far below
    words.textContent = `You’re viewing ${visibleText(file)}, ${what}. Your own texts are still here.`;
  }

  return { node, show };
}
