/**
 * The first line. Its event `poll` does nothing but open a stream of replies, where one is missing.
 */

import { find } from '../kit/js/dom.js';
import { offerKeyboardHelp } from './keyboard_help.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, trigger }) {
  offerKeyboardHelp(find(element, '.attend-header'));
  document.addEventListener('attend-poll', () => trigger('poll'));
}
