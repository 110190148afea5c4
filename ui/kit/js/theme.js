/**
 * Colours: what the tokens' colours mean, and whether the page is dark.
 */

import { colourMode } from './signals.js';
import { remembered } from './storage.js';
import { stylesheet } from './styles.js';

await stylesheet(); // modules that import this one start once the colours are known

/** Keep an element's `data-colour` equal to the colour mode. @param {HTMLElement} root */
export function followColour(root) {
  root.dataset.colour = remembered('colour', 'probability');
  colourMode.subscribe(root, (mode) => {
    root.dataset.colour = mode;
  });
}

/**
 * @param {() => void} handler called whenever the page turns dark or light. Gradio changes the class of its body, too, where
 *   the visitor's system does, and offers no event for it
 */
export function whenThemed(handler) {
  new MutationObserver(handler).observe(document.body, { attributes: true, attributeFilter: ['class'] });
}
