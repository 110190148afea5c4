/**
 * What there is to say of the model: what is on its way and how far it is, or how it was loaded; and to the settings,
 * how much it reads and how its tokens are chosen at first; and to the header, what the page is for with it.
 */

import { around, find } from '../kit/js/dom.js';
import { currentModel } from '../kit/js/signals.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, watch }) {
  const title = find(element, '.attend-model-coming');
  const bar = find(element, '.attend-model-bar', HTMLProgressElement);
  const status = find(element, '.attend-model-status');
  const notes = find(element, '.attend-model-notes');

  function draw() {
    const value = props.value;
    if (!value) return;
    if (title.textContent !== value.title) title.textContent = value.title; // read out once, not with every byte
    status.textContent = value.status;
    bar.hidden = !value.title;
    title.dataset.there = value.title ? '' : value.name; // the list shows a choice before the server has heard of it
    if (value.share === null) bar.removeAttribute('value');
    else bar.value = value.share;
    notes.replaceChildren(
      ...value.notes.map((note) => {
        const line = document.createElement('li');
        line.textContent = note;
        return line;
      }),
    );
    const { context, method, tagline } = value;
    currentModel.publish({ context, method, tagline });
    nameWhole();
  }

  /* The list cuts long names short; pointing at one shows it whole. */
  document.addEventListener('pointerover', (event) => {
    const shown = around(event, '#attend-model :is(input, [role="option"])');
    const { names, name } = props.value;
    if (shown) shown.title = names[shown.dataset.index] || name;
  });
  const nameWhole = () => {
    const chosen = document.querySelector('#attend-model input');
    if (chosen instanceof HTMLInputElement) chosen.title = props.value.name; // who points at it already is told as well
  };

  watch('value', draw);
  draw();
}
