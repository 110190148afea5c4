/**
 * The prompt of all cards, what to do with it, whether they share their random numbers, and the buttons that run and stop
 * them.
 *
 * @typedef {{text: string, answer: boolean, history: boolean, common: boolean}} Ask see `CompareRequest`
 */

/** @import { CompareRequest } from './compare_contract' */

import { make } from '../kit/js/dom.js';

/**
 * @param {string} prompt to begin with
 * @param {{run: () => void, stop: () => void, type: () => void, choose: () => void}} wiring `type`: the prompt may be another
 *   one; `choose`: what to do with it, too
 */
export function makeAsk(prompt, { run, stop, type, choose }) {
  const text = make('textarea', {
    class: 'at-grow at-ask-text', rows: 2, 'aria-label': 'Prompt for all cards', dir: 'auto', oninput: type,
    onkeydown: (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
    },
  });
  const go = make('button', {
    type: 'button', id: 'attend-compare-go', class: 'at-primary', text: 'Compare', title: 'Ctrl+Enter', onclick: run,
  });
  const halt = make('button', { type: 'button', class: 'at-stop', text: 'Stop', hidden: true, onclick: stop });
  const modes = [['continue', 'continue as text'], ['answer', 'answer as a message']].map(([value, label]) => {
    const input = make('input', { type: 'radio', name: 'attend-ask', value, class: 'at-hidden', onchange: choose });
    return { input, node: make('label', {}, input, make('span', { text: label })) };
  });
  const [continuing, answering] = modes.map((mode) => mode.input);
  const common = make('input', { type: 'checkbox', checked: true });
  const history = make('input', { type: 'checkbox', onchange: type });
  const goOn = make('label', {
    class: 'at-row at-gap-sm at-common', hidden: true,
    'data-help': 'Puts your whole conversation before the message, as for the next answer in Chat.',
  }, history, ' Include the chat history');
  const shared = make('span', { class: 'at-quiet at-end at-sidebar-settings' });
  const nodes = [
    make('div', { class: 'at-row at-stretch at-ask' }, text, make('div', { class: 'at-ask-go' }, go, halt)),
    make('div', { class: 'at-row at-wrap at-gap-sm at-md at-ask-row' },
      make('fieldset', { class: 'at-switch' },
        make('legend', { class: 'at-hidden', text: 'What to do with the prompt' }), ...modes.map((mode) => mode.node)),
      goOn,
      make('label', {
        class: 'at-row at-gap-sm at-common',
        'data-help': 'All cards use the same random numbers, so that their texts differ because of their settings, '
          + 'not by chance. When this is off, each card gets its own. The seed is the one in the sidebar.',
      }, common, ' Same random numbers for all cards'), shared),
  ];
  let hasChat = false;
  text.value = prompt;
  continuing.checked = true;

  /** @returns {Ask} */
  const read = () => ({
    text: text.value, answer: answering.checked, history: hasChat && answering.checked && history.checked,
    common: common.checked,
  });

  /** @param {Pick<CompareRequest, keyof Ask>} asked */
  function show(asked) {
    text.value = asked.text;
    [continuing.checked, answering.checked] = [!asked.answer, asked.answer];
    [history.checked, common.checked] = [asked.history, asked.common];
  }

  /** @param {{chats: boolean, history: boolean}} model whether it answers messages, and whether there is a chat to continue */
  function offer(model) {
    hasChat = model.chats && model.history;
    answering.disabled = !model.chats;
    if (!model.chats) continuing.checked = true;
  }

  /** @param {boolean} isBusy */
  function draw(isBusy) {
    goOn.hidden = !hasChat || !answering.checked;
    const hasFocus = go === document.activeElement || halt === document.activeElement;
    go.hidden = isBusy;
    halt.hidden = !isBusy;
    if (hasFocus) (isBusy ? halt : go).focus();
  }

  return {
    nodes, read, show, offer, draw,
    /** @param {string} words what the sidebar says for all cards */
    showShared: (words) => {
      shared.textContent = words;
    },
  };
}

/** What the texts depend on of it, as one string: the random numbers are the server's to draw. @param {Ask} asked */
export const promptKey = ({ text, answer, history }) => JSON.stringify([text, answer, answer && history]);
