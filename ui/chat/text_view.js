/**
 * The switch between the tokens of the answers and their formatted text, and the questions to the server about texts in
 * view: their formatting and their tokens.
 */

/** @import { FormattedValue, MessageTokensValue } from './chat_contract' */

import { find, make } from '../kit/js/dom.js';
import { Questions } from '../kit/js/questions.js';
import { textView } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';
import { unpacked } from '../kit/js/values.js';
import { putMessages, whenMessagesAreWanted } from './attended.js';
import { put, takeWanted, whenWanted } from './formatted/requests.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const questions = new Questions(trigger);
  /** @type {'tokens' | 'formatted'} */
  let view = remembered('text', 'tokens') === 'formatted' ? 'formatted' : 'tokens';
  /** @type {string | null} whose messages are to be asked for */
  let wantedRun = null;

  const choices = /** @type {const} */ (['tokens', 'formatted']).map((name) => {
    const input = make('input', {
      type: 'radio', name: 'attend-text', value: name, class: 'at-hidden', onchange: () => textView.publish(name),
    });
    input.checked = name === view;
    return { input, node: make('label', {}, input, make('span', { text: name })) };
  });
  find(element, '.attend-text-view').replaceChildren(make('fieldset', { class: 'at-switch' },
    make('legend', { class: 'at-hidden', text: 'Show answers as' }), ...choices.map(({ node }) => node)));

  textView.subscribe(element, (name) => { // a click on a formatted word leads back to the tokens
    if (name === view) return;
    view = name;
    remember('text', name);
    for (const { input } of choices) input.checked = input.value === name;
  });

  /** One question at a time: of two replies that come together Gradio may pass on one. */
  function ask() {
    if (questions.open) return;
    const texts = takeWanted();
    const run = wantedRun;
    if (texts.length) {
      questions.ask('format', { texts }, (/** @type {FormattedValue} */ { trees = [] }) => {
        put(texts, trees);
        textView.publish(view);
        ask();
      });
    } else if (run !== null) {
      wantedRun = null;
      questions.ask('messages', { run }, (/** @type {MessageTokensValue} */ { messages = [] }) => {
        putMessages(run, messages);
        ask();
      });
    }
  }

  watch('value', () => props.value && questions.settle(unpacked(props.value)));
  textView.publish(view);
  whenWanted(ask);
  whenMessagesAreWanted((run) => {
    wantedRun = run;
    ask();
  });
}
