/**
 * The purpose of an encoder's page. Set as text, since the model's name may be anything.
 */

import { find } from '../kit/js/dom.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, watch }) {
  function draw() {
    find(element, '.attend-about').textContent = props.value ?? '';
  }

  watch('value', draw);
  draw();
}
