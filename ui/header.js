/**
 * The first line says what the page is for with the model that is chosen. Its event `poll` does nothing but open a stream
 * of replies, where one is missing.
 */

import { find } from './kit/dom.js';
import { currentModel } from './kit/signals.js';

/** @param {import('./kit/gradio').Component} component */
export function start({ element, trigger }) {
  document.addEventListener('attend-poll', () => trigger('poll'));
  currentModel.subscribe(element, ({ tagline }) => {
    find(element, 'p > span').textContent = tagline;
  });
}
