/**
 * The switch between the tabs. A click counts at once: `data-tab` of the body names the visible tab for the styles, and
 * `data-encoder` says that an encoder has replaced all tabs. The server then updates the tab. If the tab needs another
 * model, the switch asks for it ('bring') and says that it is loading; if no model can do what was chosen, the server
 * selects another tab.
 */

import { partOf, takePart, whenMoved, writeParts } from '../kit/address/address.js';
import { find, make } from '../kit/js/dom.js';
import { connected, fileClosed, shownTab } from '../kit/js/signals.js';

/** @import { SwitchValue } from './page_contract' */
/** @typedef {{tab: string, clicks: number}} SwitchState the chosen tab, and the number of clicks so far */

/**
 * The state of the switch after an answer. An answer that does not know the last click changes nothing, since the answer to that
 * click is still to come, unless the chosen tab no longer exists.
 * @param {SwitchState} state
 * @param {SwitchValue} answer
 * @returns {SwitchState}
 */
export function moved(state, answer) {
  const isOutdated = answer.clicks < state.clicks && answer.entries.includes(state.tab);
  return isOutdated ? state : { ...state, tab: answer.tab };
}

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const group = find(element, '.attend-tabs');
  const heading = make('h2', { class: 'at-hidden' }); // of the tab, for screen readers
  group.before(heading);
  /** @type {SwitchState} */
  let state = { tab: '', clicks: 0 };
  const loading = find(element, '.attend-loading');
  let newestUpdate = 0;
  /** @type {string[]} */
  let entries = [];
  const home = props.value.tab; // the tab of an address that names none

  /** @param {string[]} names */
  function offer(names) {
    if (String(entries) === String(names)) return; // so that the keyboard focus stays
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
    if (isNew) scrollTo(0, 0); // Back returns to where a tab was left
    trigger('show', state);
  }

  function receive() {
    const answer = props.value;
    if (!answer?.entries) return;
    if ((answer.number ?? 0) < newestUpdate) {
      props.value = state;
      return;
    }
    newestUpdate = answer.number ?? 0;
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
  // A click before Gradio is connected does not reach the server. If the address names a model, the server hears of that first,
  // since it judges a tab by the model that is loading.
  connected.subscribe(null, () => setTimeout(() => {
    if (state.clicks) trigger('show', state);
  }));
  whenMoved(() => {
    const tab = partOf('tab') ?? home;
    if (tab !== state.tab && entries.includes(tab)) click(tab, false);
  });
  fileClosed.subscribe(element, () => trigger('show', state)); // the tab's own run comes back
  watch('value', receive);
  receive();
}
