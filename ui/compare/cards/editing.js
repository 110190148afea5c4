/**
 * What changes a card: the form with its settings, which a button opens, and the button that removes the card.
 */

/** @import { CompareForm } from '../compare_contract' */
/** @import { Settings } from './form.js' */

import { find, iconButton } from '../../kit/js/dom.js';
import { foldOut } from '../../kit/parts/fold_out.js';
import { makeForm } from './form.js';

export const BUSY = 'When this comparison has ended or is stopped'; // why a button is disabled
const NAMES = { edit: 'Change the settings of this card', remove: 'Remove this card' };

/**
 * @param {CompareForm} offered
 * @param {{change: (settings: Settings) => void, panel: () => void, remove: () => void}} actions
 */
export function makeEditing(offered, actions) {
  const editButton = iconButton('edit', NAMES.edit);
  const removeButton = iconButton('remove', NAMES.remove, actions.remove);
  for (const button of [editButton, removeButton]) button.classList.add('at-edits-card'); // a class may not
  const form = makeForm(offered, actions);
  const open = foldOut(editButton, form.node, () => find(form.node, '.at-fields :is(select, input)'));

  /** @param {{busy: boolean, removable: boolean}} now */
  function draw({ busy, removable }) {
    form.node.disabled = busy;
    editButton.disabled = busy;
    removeButton.disabled = busy || !removable;
    editButton.title = busy ? BUSY : NAMES.edit;
    removeButton.title = busy ? BUSY : removable ? NAMES.remove : `A comparison has at least ${offered.fewest} cards`;
  }

  return { buttons: [editButton, removeButton], form, open, draw, focusRemove: () => removeButton.focus() };
}
