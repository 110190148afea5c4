/**
 * The menu of the whole conversation: copy or download it.
 */

/** @import { TurnValue } from '../runs/runs_contract' */

import { find, make } from '../kit/js/dom.js';
import { closeOnEscape } from '../kit/js/keys.js';
import { copy, download, slug } from '../kit/js/transfer.js';
import { asCsv, asJson, asMarkdown } from './transcript.js';

const FILES = /** @type {const} */ ([
  { text: 'Download Markdown', type: 'md', write: asMarkdown },
  { text: 'Download JSON with probabilities', type: 'json', write: asJson },
  { text: 'Download CSV with probabilities', type: 'csv', write: asCsv },
]);

/** @param {() => TurnValue[]} turns */
export function makeMenu(turns) {
  const node = make('details', { class: 'at-menu' },
    make('summary', { class: 'at-md at-quiet at-option at-menu-button', text: 'Save' }));
  const entry = (/** @type {string} */ text, /** @type {() => void} */ onclick) =>
    make('button', { type: 'button', class: 'at-md at-option at-menu-entry', text, onclick: () => {
      onclick();
      close();
    } });
  node.append(make('div', { class: 'at-panel at-menu-entries', role: 'group', 'aria-label': 'Copy or download the conversation' },
    entry('Copy as Markdown', () => copy(asMarkdown(turns()), node)),
    ...FILES.map(({ text, type, write }) => entry(text, () => download(nameParts(turns()), type, write(turns()))))));

  function close() {
    if (node.contains(document.activeElement)) find(node, 'summary').focus();
    node.open = false;
  }

  closeOnEscape(node, close, () => node.open);
  node.addEventListener('focusout', (event) => {
    if (!(event.relatedTarget instanceof Node && node.contains(event.relatedTarget))) node.open = false;
  });
  return node;
}

/** The parts of a file's name: the model, and the first words that can be written in ASCII. @param {TurnValue[]} turns */
function nameParts(turns) {
  const words = turns.find(({ role, text }) => role === 'user' && slug(text))?.text ?? 'chat';
  return [turns.findLast(({ model }) => model)?.model ?? '', words];
}
