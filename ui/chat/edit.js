/**
 * The editor that replaces a visitor's message.
 */

import { find, make, makeButton } from '../kit/js/dom.js';
import { closeOnEscape } from '../kit/js/keys.js';

/**
 * @param {HTMLElement} node the message
 * @param {string} text
 * @param {(text: string) => boolean} send returns whether the text could be sent
 */
export function editMessage(node, text, send) {
  const area = make('textarea', { class: 'at-edit-text', rows: 2, 'aria-label': 'Edit your message', dir: 'auto' });
  area.value = text;
  const save = makeButton('Save & resend', submit, { class: 'at-primary' });
  const cancel = makeButton('Cancel', close);
  const form = make('div', { class: 'at-edit' }, area, make('div', { class: 'at-row at-wrap at-gap-xs at-edit-buttons' },
    make('span', { class: 'at-sm at-quiet at-keys', text: 'Enter to send, Shift+Enter for a new line, Esc to cancel' }), save, cancel));

  function fit() {
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight + 2}px`;
    save.disabled = !area.value.trim();
  }

  function close() {
    form.remove();
    node.classList.remove('at-editing');
    find(node, '.at-icon:not(:disabled)').focus();
  }

  function submit() {
    if (!save.disabled && send(area.value)) close();
  }

  area.addEventListener('input', fit);
  closeOnEscape(form, close);
  area.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return; // as in the message box
    event.preventDefault();
    submit();
  });
  node.classList.add('at-editing');
  node.prepend(form);
  fit();
  area.focus();
}
