/**
 * A comparison from a shared file: all of its cards, in place of the visitor's own until it is closed.
 */

/** @import { SharedComparison } from './compare_contract' */

import { makeFileNote } from '../inspector/notes.js';
import { make } from '../kit/js/dom.js';
import { makeSharedCards } from './cards/shared_cards.js';

export function makeOpened() {
  const node = make('section', { 'aria-label': 'Cards of a file', hidden: true });

  /** @param {typeof import('../kit/js/signals.js').openedComparison.latest} file */
  function show({ name, comparison, open }) {
    const note = makeFileNote('a saved comparison');
    node.hidden = false;
    try {
      const cards = makeSharedCards(/** @type {SharedComparison} */ (comparison), (card, index) => open(card, index, (run) => cards.name(card, run)));
      node.replaceChildren(note.node, ...cards.nodes);
    } catch {
      node.replaceChildren(note.node, make('p', { role: 'alert', text: 'This file was changed or cut off, so it can’t be shown: ask for it again.' }));
    }
    note.show(name);
  }

  function close() {
    node.hidden = true;
    node.replaceChildren();
  }

  return { node, show, close, get isOpen() { return !node.hidden; } };
}
