/**
 * The header. Its event `poll` does nothing but open a missing stream of replies.
 */

import { find } from '../kit/js/dom.js';
import { offerKeyboardHelp } from './keyboard_help.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, trigger }) {
  offerKeyboardHelp(find(element, '.attend-header'));
  document.addEventListener('attend-poll', () => trigger('poll'));
}
