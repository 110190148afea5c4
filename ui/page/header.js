/**
 * The header. Its event `poll` does nothing but open a missing stream of replies.
 */

import { find } from '../kit/js/dom.js';
import { decodingMethod, streamMissing } from '../kit/js/signals.js';
import { offerKeyboardHelp } from './keyboard_help.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, trigger }) {
  offerKeyboardHelp(find(element, '.attend-header'));
  decodingMethod.subscribe(element, (name) => { find(element, '.attend-method').textContent = name; });
  streamMissing.subscribe(element, () => trigger('poll'));
}
