/**
 * The switch between the tabs. A click counts at once: `data-tab` of the body names the visible tab for the styles, and
 * `data-encoder` says that an encoder has replaced all tabs. The server then updates the tab. If the tab needs another
 * model, the switch asks for it ('bring') and says that it is loading; if no model can do what was chosen, the server
 * selects another tab.
 */

import { onceConnected, partOf, takePart, whenMoved, writeParts } from '../kit/address/address.js';
import { find, make } from '../kit/js/dom.js';
import { shownTab } from '../kit/js/signals.js';

/** @import { SwitchValue } from './page_contract' */
/** @typedef {{tab: string, clicks: number}} SwitchState what was chosen, and how often anything was */

/**
 * Where the switch stands after an answer. One that knows nothing of the last click moves nobody, unless there is no such
 * tab any more: the answer to that click comes.
 * @param {SwitchState} state
 * @param {SwitchValue} answer
 * @returns {SwitchState}
 */
export function moved(state, answer) {
  const waits = answer.clicks < state.clicks && answer.entries.includes(state.tab);
  return waits ? state : { ...state, tab: answer.tab };
}

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const group = find(element, '.attend-tabs');
  const heading = make('h2', { class: 'at-hidden' }); // of what stands under the switch, for screen readers
  group.before(heading);
  /** @type {SwitchState} */
  let state = { tab: '', clicks: 0 };
  const loading = find(element, '.attend-loading');
  let newest = 0; // the highest number of an update
  /** @type {string[]} */
  let entries = [];
  const home = props.value.tab; // where an address without a tab leads

  /** @param {string[]} names */
  function offer(names) {
    if (String(entries) === String(names)) return; // keep the keyboard focus
    entries = names;
    group.replaceChildren(...names.map((name) => make('label', { 'data-name': name },
      make('input', { type: 'radio', name: 'attend-tab', value: name, class: 'at-hidden', onchange: () => click(name, true) }),
      make('span', { text: name }))));
  }

  function show() {
    for (const label of group.querySelectorAll('label')) {
      const isChosen = label.dataset.name === state.tab;
      find(label, 'input', HTMLInputElement).checked = isChosen;
      label.classList.toggle('selected', isChosen);
    }
    document.body.dataset.tab = state.tab;
    heading.textContent = state.tab;
    document.title = state.tab === home ? 'Attend' : `${state.tab} · Attend`;
    shownTab.publish(state.tab);
    props.value = state; // what the server receives with any other event
  }

  /** @param {boolean} isNew */
  const writeTab = (isNew) => writeParts({ tab: state.tab === home ? null : state.tab }, { isNew });

  /** @param {string} tab @param {boolean} isNew Back leads to the one before */
  function click(tab, isNew) {
    state = { tab, clicks: state.clicks + 1 };
    writeTab(isNew);
    document.body.removeAttribute('data-loading');
    show();
    trigger('show', state);
  }

  function receive() {
    const answer = props.value;
    if (!answer?.entries) return;
    if ((answer.number ?? 0) < newest) {
      props.value = state;
      return;
    }
    newest = answer.number ?? 0;
    state = moved(state, answer);
    offer(answer.entries);
    document.body.toggleAttribute('data-encoder', answer.encoder);
    writeTab(false);
    show();
    const isLoading = Boolean(answer.loading) && state.tab === answer.tab;
    document.body.toggleAttribute('data-loading', isLoading);
    loading.textContent = isLoading ? `Loading ${answer.loading} …` : '';
    if (isLoading) trigger('bring');
  }

  offer(props.value.entries);
  const opened = takePart('tab', (tab) => entries.includes(tab));
  state = { tab: opened ?? home, clicks: opened ? 1 : 0 };
  // What is clicked before Gradio has taken the page up does not reach the server. It hears of the model first, if the
  // address names one: a tab is judged by the model that is coming.
  onceConnected(() => setTimeout(() => {
    if (state.clicks) trigger('show', state);
  }));
  whenMoved(() => {
    const tab = partOf('tab') ?? home;
    if (tab !== state.tab && entries.includes(tab)) click(tab, false);
  });
  document.addEventListener('attend-refresh', () => trigger('show', state)); // what was shown instead is closed
  watch('value', receive);
  receive();
}
