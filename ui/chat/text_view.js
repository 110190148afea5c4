/**
 * The switch between the tokens of the answers and their formatted text, which the server is asked for.
 */

/** @import { FormattedValue } from './contract' */

import { find, make } from '../kit/js/dom.js';
import { Questions } from '../kit/js/questions.js';
import { textView } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';
import { unpacked } from '../kit/js/values.js';
import { put, takeWanted, whenWanted } from './formatting.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const questions = new Questions(trigger);
  /** @type {'tokens' | 'formatted'} */
  let view = remembered('text', 'tokens') === 'formatted' ? 'formatted' : 'tokens';

  const choices = /** @type {const} */ (['tokens', 'formatted']).map((name) => {
    const input = make('input', {
      type: 'radio', name: 'attend-text', value: name, class: 'at-hidden', onchange: () => choose(name),
    });
    input.checked = name === view;
    return make('label', {}, input, make('span', { text: name }));
  });
  find(element, '.attend-text-view').replaceChildren(make('fieldset', { class: 'at-switch' },
    make('legend', { class: 'at-hidden', text: 'Show answers as' }), ...choices));

  /** @param {'tokens' | 'formatted'} name */
  function choose(name) {
    view = name;
    remember('text', name);
    textView.publish(name);
  }

  /** One question at a time: of two replies that come together Gradio may pass on one. */
  function ask() {
    if (questions.open) return;
    const texts = takeWanted();
    if (!texts.length) return;
    questions.ask('format', { texts }, (/** @type {FormattedValue} */ { trees = [] }) => {
      put(texts, trees);
      textView.publish(view);
      ask();
    });
  }

  watch('value', () => props.value && questions.settle(unpacked(props.value)));
  textView.publish(view);
  whenWanted(ask);
}
