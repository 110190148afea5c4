/**
 * The dialog with what can be copied: the settings as a link, as a command and as Python. Opens with every new value.
 */

import { around, find, make } from '../kit/js/dom.js';
import { copy } from '../kit/js/transfer.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, watch }) {
  const dialog = find(element, 'dialog', HTMLDialogElement);
  const body = dialog.querySelector('.at-blocks');

  function draw() {
    if (!props.value) return;
    const address = new URL(location.href);
    if (props.value.seed >= 0) address.searchParams.set('seed', props.value.seed); // the last run's, to repeat it
    const link = { title: 'Link to these settings', text: address.href, note: 'The link doesn’t include your conversation.' };
    body.replaceChildren(...[link, ...props.value.blocks].map(block));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }

  dialog.addEventListener('click', (event) => {
    if (event.target === dialog || around(event, '.at-close')) dialog.close();
  });
  watch('value', draw);
  draw(); // it may have been asked for before this script was there
}

function block({ title, note, text }) {
  const button = make('button', { type: 'button', text: 'Copy', 'aria-label': `Copy: ${title}`,
    onclick: () => copy(text, button) });
  return make('section', {}, make('h3', { text: title }), make('div', { class: 'at-copy' }, button),
    make('pre', { text, tabindex: 0 }), ...(note ? [make('p', { text: note })] : []));
}
