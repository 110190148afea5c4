/**
 * Context usage: a line of text and a bar.
 */

import { find } from './kit/js/dom.js';

/** @param {import('./kit/js/gradio').Component} component */
export function start({ element, props, watch }) {
  const text = find(element, '.attend-meter-text');
  const bar = find(element, '.attend-meter-bar');

  function draw() {
    if (!props.value) return;
    text.textContent = props.value.text;
    bar.style.setProperty('--share', props.value.share);
    bar.classList.toggle('full', props.value.share > 0.9);
  }

  watch('value', draw);
  draw();
}
