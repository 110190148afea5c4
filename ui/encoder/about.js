/**
 * What an encoder's page is for; set as text, whatever the model is called.
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
