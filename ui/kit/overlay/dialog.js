/**
 * Dialogs over the page.
 */

import { make } from '../js/dom.js';

/**
 * A dialog with a title; its button, Escape and a click beside it close it, but not a drag that only ends there.
 * @param {string} id
 * @param {string} title
 * @param {...Node} children
 */
export function makeDialog(id, title, ...children) {
  const dialog = make('dialog', { id, class: 'at-panel at-dialog', 'aria-labelledby': `${id}-title` },
    make('h2', { id: `${id}-title`, text: title }), ...children,
    make('button', { type: 'button', class: 'at-close', 'aria-label': 'Close', text: '×', onclick: () => dialog.close() }));
  let isPressedBeside = false;
  dialog.addEventListener('pointerdown', (event) => { isPressedBeside = isBeside(event, dialog); });
  dialog.addEventListener('click', (event) => {
    if (isPressedBeside && isBeside(event, dialog)) dialog.close();
  });
  return dialog;
}

/** Whether the pointer is outside the dialog, which gets these events, too. @param {MouseEvent} event @param {HTMLElement} dialog */
function isBeside({ target, clientX, clientY }, dialog) {
  const { left, top, right, bottom } = dialog.getBoundingClientRect();
  return target === dialog && (clientX < left || clientX > right || clientY < top || clientY > bottom);
}
