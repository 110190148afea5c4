/**
 * The dialog with the settings as a link, as a command and as Python, each to copy. It opens with every new value.
 */

import { isModelNameless, MAX_PROMPT, modelParts, withParts } from '../kit/address/address.js';
import { makeDialog } from '../kit/overlay/dialog.js';
import { makeClassButton } from '../kit/parts/class_button.js';
import { find, make, makeButton } from '../kit/js/dom.js';
import { classLinkWanted } from '../kit/js/signals.js';
import { copy } from '../kit/js/transfer.js';
import { followValue } from '../kit/js/values.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const body = make('div', {});
  const dialog = makeDialog('attend-share-dialog', 'Share or reuse these settings', body);
  dialog.classList.add('attend-code');
  find(component.element, '.attend-code-dialog').replaceChildren(dialog);

  followValue(component, ({ blocks, ...run }) => {
    body.replaceChildren(...[link(run), ...blocks].map(block));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  });
}

/** @param {{prompt: string, seed: number}} run */
function link({ prompt, seed }) {
  const isLong = prompt.length > MAX_PROMPT;
  const parts = { ...modelParts(), ...(seed >= 0 && { seed }), ...(!isLong && { prompt }) }; // the last run's seed, to repeat it
  const isNameless = isModelNameless();
  const note = [
    `Opens this tab with ${new Intl.ListFormat('en').format(['the panel’s settings', ...(isNameless ? [] : ['this model']), ...(isLong ? [] : ['this prompt'])])}.`,
    isNameless ? 'It can’t name your model, which isn’t in the catalogue.' : '',
    'A page with another model says so.',
    isLong ? 'The prompt is too long for a link.' : 'It doesn’t include the rest of your conversation.',
  ];
  const text = withParts(location.href, parts);
  const more = makeClassButton(() => classLinkWanted.publish(text));
  return { title: 'Link', text, note: note.filter(Boolean).join(' '), more: [more] };
}

/** @param {{title: string, note: string, text: string, more?: HTMLElement[]}} about `more`: other buttons */
function block({ title, note, text, more = [] }) {
  const button = makeButton('Copy', () => copy(text, button), { 'aria-label': `Copy: ${title}` });
  return make('section', {}, make('h3', { text: title }), make('div', { class: 'at-row at-sm at-copy' }, button, ...more),
    make('pre', { class: 'at-scroll', text, tabindex: 0 }), ...(note ? [make('p', { class: 'at-sm', text: note })] : []));
}
