/**
 * The form above the cards: their prompt, what to do with it, whether they share their random numbers, and the buttons that run
 * and stop them.
 *
 * @typedef {{text: string, answer: boolean, history: boolean, common: boolean}} Ask see `CompareRequest`
 */

/** @import { CompareRequest } from './compare_contract' */

import { make, makeButton } from '../kit/js/dom.js';
import { makeRadioSwitch } from '../kit/parts/radio_switch.js';

/**
 * @param {string} prompt to begin with
 * @param {{run: () => void, stop: () => void, type: () => void, choose: () => void}} wiring `type` is called when the prompt
 *   changes, `choose` when what to do with it does
 */
export function makeAsk(prompt, { run, stop, type, choose }) {
  const text = make('textarea', {
    class: 'at-grow at-ask-text', rows: 2, 'aria-label': 'Prompt for all cards', dir: 'auto', oninput: type,
    onkeydown: (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
    },
  });
  const go = makeButton('Compare', run, { id: 'attend-compare-go', class: 'at-primary', title: 'Ctrl+Enter' });
  const halt = makeButton('Stop', stop, { class: 'at-stop', hidden: true });
  const mode = makeRadioSwitch('attend-ask', 'What to do with the prompt',
    { continue: 'continue as text', answer: 'answer as a message' }, choose);
  const answering = mode.inputs.answer;
  const common = make('input', { type: 'checkbox', checked: true });
  const history = make('input', { type: 'checkbox', onchange: type });
  const historyLabel = make('label', {
    class: 'at-row at-gap-sm at-common', hidden: true,
    'data-help': 'Puts your whole conversation before the message, as for the next answer in Chat.',
  }, history, ' Include the chat history');
  const shared = make('span', { class: 'at-quiet at-end at-sidebar-settings' });
  const nodes = [
    make('div', { class: 'at-row at-stretch at-ask' }, text, make('div', { class: 'at-ask-go' }, go, halt)),
    make('div', { class: 'at-row at-wrap at-gap-sm at-md at-ask-row' }, mode.node, historyLabel,
      make('label', {
        class: 'at-row at-gap-sm at-common',
        'data-help': 'All cards use the same random numbers, so that their texts differ because of their settings, '
          + 'not by chance. When this is off, each card gets its own. The seed is the one in the sidebar.',
      }, common, ' Same random numbers for all cards'), shared),
  ];
  let hasChat = false;
  text.value = prompt;
  mode.choose('continue');

  /** @returns {Ask} */
  const read = () => ({
    text: text.value, answer: answering.checked, history: hasChat && answering.checked && history.checked,
    common: common.checked,
  });

  /** @param {Pick<CompareRequest, keyof Ask>} request */
  function show(request) {
    text.value = request.text;
    mode.choose(request.answer ? 'answer' : 'continue');
    [history.checked, common.checked] = [request.history, request.common];
  }

  /** @param {{chats: boolean, history: boolean}} model whether it answers messages, and whether there is a chat to continue */
  function offer(model) {
    hasChat = model.chats && model.history;
    answering.disabled = !model.chats;
    if (!model.chats) mode.choose('continue');
  }

  /** @param {boolean} isBusy */
  function draw(isBusy) {
    historyLabel.hidden = !hasChat || !answering.checked;
    const hasFocus = go === document.activeElement || halt === document.activeElement;
    go.hidden = isBusy;
    halt.hidden = !isBusy;
    if (hasFocus) (isBusy ? halt : go).focus();
  }

  return {
    nodes, read, show, offer, draw,
    /** @param {string} words the sidebar's settings, which hold for all cards */
    showShared: (words) => {
      shared.textContent = words;
    },
  };
}

/** The part of it that the texts depend on, as one string: the random numbers are the server's to draw. @param {Ask} ask */
export const promptKey = ({ text, answer, history }) => JSON.stringify([text, answer, answer && history]);
