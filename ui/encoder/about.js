/**
 * What there is to say of a page; it is text, whatever a model is called.
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
