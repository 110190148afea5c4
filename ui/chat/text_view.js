/**
 * The switch between the tokens of the answers and their formatted text. Its component also asks the server about the texts in
 * view: how they are formatted, and which tokens they consist of.
 */

/** @import { FormattedValue, MessageTokensValue } from './chat_contract' */

import { find } from '../kit/js/dom.js';
import { Questions } from '../kit/js/questions.js';
import { messagesWanted, textView, textsWanted } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';
import { followValue } from '../kit/js/values.js';
import { makeRadioSwitch } from '../kit/parts/radio_switch.js';
import { putMessages } from './attended.js';
import { put, takeWanted } from './formatted/requests.js';

const RETRY_MS = 20_000; // a busy server takes seconds for a long text

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const { element, trigger } = component;
  const questions = new Questions(trigger);
  /** @type {'tokens' | 'formatted'} */
  let view = remembered('text', 'tokens') === 'formatted' ? 'formatted' : 'tokens';
  /** @type {string | null} the run whose messages are to be asked for */
  let wantedRun = null;

  const { node, choose } = makeRadioSwitch('attend-text', 'Show answers as', { tokens: 'tokens', formatted: 'formatted' },
    (name) => textView.publish(name));
  find(element, '.attend-text-view').replaceChildren(node);
  textView.subscribe(element, (name) => { // a click on a formatted word leads back to the tokens
    choose(name);
    if (name !== view) remember('text', view = name);
  });

  /** Ask one question at a time: if two replies come together, Gradio may pass on only one. A lost one is asked again. */
  function ask() {
    if (questions.open) return;
    const texts = takeWanted();
    const run = wantedRun;
    if (texts.length) {
      questions.ask('format', { texts }, (/** @type {FormattedValue} */ { trees = [] }) => {
        put(texts, trees);
        textView.publish(view);
        ask();
      }, {}, RETRY_MS);
    } else if (run !== null) {
      wantedRun = null;
      questions.ask('messages', { run }, (/** @type {MessageTokensValue} */ { messages = [] }) => {
        putMessages(run, messages);
        ask();
      }, {}, RETRY_MS);
    }
  }

  followValue(component, (reply) => questions.settle(reply));
  textView.publish(view);
  textsWanted.subscribe(element, ask);
  messagesWanted.subscribe(element, (run) => {
    wantedRun = run;
    ask();
  });
}
