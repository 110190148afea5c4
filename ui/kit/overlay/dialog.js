/**
 * Dialogs over the page.
 */

import { make } from '../js/dom.js';

/**
 * A dialog with a title; its button, Escape and a click beside it close it.
 * @param {string} id
 * @param {string} title
 * @param {...Node} children
 */
export function makeDialog(id, title, ...children) {
  const dialog = make('dialog', { id, class: 'at-panel at-dialog', 'aria-labelledby': `${id}-title` },
    make('h2', { id: `${id}-title`, text: title }), ...children,
    make('button', { type: 'button', class: 'at-close', 'aria-label': 'Close', text: '×', onclick: () => dialog.close() }));
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close(); // beside it
  });
  return dialog;
}
