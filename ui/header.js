/**
 * The first line says what the page is for with the model that is chosen. Its event `poll` does nothing but open a stream
 * of replies, where one is missing.
 */

import { find } from './kit/js/dom.js';
import { currentModel } from './kit/js/signals.js';

/** @param {import('./kit/js/gradio').Component} component */
export function start({ element, trigger }) {
  document.addEventListener('attend-poll', () => trigger('poll'));
  currentModel.subscribe(element, ({ tagline }) => {
    find(element, 'p > span').textContent = tagline;
  });
}
