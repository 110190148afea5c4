/**
 * What changes a card: the form with its settings, which a button opens, and the button that removes the card.
 */

/** @import { CompareForm } from '../compare_contract' */
/** @import { Settings } from './form.js' */

import { find, iconButton } from '../../kit/js/dom.js';
import { foldOut } from '../../kit/parts/fold_out.js';
import { makeForm } from './form.js';

/**
 * @param {CompareForm} offered
 * @param {{change: (settings: Settings) => void, panel: () => void, remove: () => void}} actions
 */
export function makeEditing(offered, actions) {
  const editButton = iconButton('edit', 'Change the settings of this card');
  const removeButton = iconButton('remove', 'Remove this card', actions.remove);
  for (const button of [editButton, removeButton]) button.classList.add('at-edits-card'); // a class may not
  const form = makeForm(offered, actions);
  const open = foldOut(editButton, form.node, () => find(form.node, '.at-fields :is(select, input)'));

  /** @param {{busy: boolean, removable: boolean}} now */
  function draw({ busy, removable }) {
    form.node.disabled = busy;
    editButton.disabled = busy;
    removeButton.disabled = busy || !removable;
  }

  return { buttons: [editButton, removeButton], form, open, draw };
}
