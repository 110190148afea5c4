/**
 * Colours: what those of the tokens mean, and whether the page is dark.
 */

import { colourMode } from './signals.js';
import { remembered } from './storage.js';
import { stylesheet } from './styles.js';

await stylesheet(); // what imports this module begins when the colours are there

/** @param {HTMLElement} root takes the colour mode now and whenever it changes */
export function followColour(root) {
  root.dataset.colour = remembered('colour', 'probability');
  colourMode.subscribe(root, (mode) => {
    root.dataset.colour = mode;
  });
}

/** @param {() => void} handler called whenever the page turns dark or light, which its body's class tells */
export function whenThemed(handler) {
  new MutationObserver(handler).observe(document.body, { attributes: true, attributeFilter: ['class'] });
}
