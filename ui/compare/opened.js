/**
 * A comparison from a shared file: all of its cards, in place of the visitor's own until it is closed.
 */

/** @import { SharedComparison } from './compare_contract' */

import { makeFileNote } from '../inspector/notes.js';
import { make } from '../kit/js/dom.js';
import { openedComparison } from '../kit/js/signals.js';
import { makeSharedCards } from './cards/shared_cards.js';

export function makeOpened() {
  const node = make('section', { 'aria-label': 'Cards of a file', hidden: true });

  /** @param {typeof openedComparison.latest} file */
  function show({ name, comparison, open }) {
    const note = makeFileNote('a saved comparison');
    node.hidden = false;
    try {
      const cards = makeSharedCards(/** @type {SharedComparison} */ (comparison), (card, index) => {
        const run = open(card, index);
        if (run) cards.name(card, run);
      });
      node.replaceChildren(note.node, ...cards.nodes);
    } catch {
      node.replaceChildren(note.node, make('p', { role: 'alert', text: 'This file was changed or cut off, so it can’t be shown: ask for it again.' }));
    }
    note.show(name);
  }

  function close() {
    if (node.hidden) return;
    node.hidden = true;
    node.replaceChildren();
    openedComparison.publish(null); // so that nothing keeps the file, or shows it again
  }

  return { node, show, close, get isOpen() { return !node.hidden; } };
}
