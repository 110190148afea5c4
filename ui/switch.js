/**
 * The switch between the tabs. A click counts at once: `data-tab` of the body says what is seen, for the styles, and
 * `data-encoder` that an encoder has taken the place of all tabs. The server then brings the tab up to date and, where the
 * model cannot do what was chosen, moves the switch on.
 */

import { find, make } from './kit/dom.js';

/** @import { SwitchValue } from './contract' */
/** @typedef {{tab: string, clicks: number}} Place what was chosen, and how often anything was */

/**
 * Where the switch stands after an answer. One that knows nothing of the last click moves nobody, unless there is no such
 * tab any more: the answer to that click comes.
 * @param {Place} place
 * @param {SwitchValue} answer
 * @returns {Place}
 */
export function moved(place, answer) {
  const waits = answer.clicks < place.clicks && answer.entries.includes(place.tab);
  return waits ? place : { ...place, tab: answer.tab };
}

/** @param {import('./kit/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const group = find(element, '.attend-tabs');
  /** @type {Place} */
  let place = { tab: '', clicks: 0 };
  let newest = 0; // the highest number of an update
  let entries = '';

  /** @param {string[]} names */
  function offer(names) {
    if (entries === String(names)) return; // whoever is at one with the keyboard stays there
    entries = String(names);
    group.replaceChildren(...names.map((name) => make('label', { 'data-name': name },
      make('input', { type: 'radio', name: 'attend-tab', value: name, onchange: () => click(name) }),
      make('span', { text: name }))));
  }

  function show() {
    for (const label of group.querySelectorAll('label')) {
      const isChosen = label.dataset.name === place.tab;
      find(label, 'input', HTMLInputElement).checked = isChosen;
      label.classList.toggle('selected', isChosen);
    }
    document.body.dataset.tab = place.tab;
    props.value = place; // what the server is told with whatever else is asked
  }

  /** @param {string} tab */
  function click(tab) {
    place = { tab, clicks: place.clicks + 1 };
    show();
    trigger('show', place);
  }

  function receive() {
    const answer = props.value;
    if (!answer?.entries) return;
    if ((answer.number ?? 0) < newest) {
      props.value = place;
      return;
    }
    newest = answer.number ?? 0;
    place = moved(place, answer);
    offer(answer.entries);
    document.body.toggleAttribute('data-encoder', answer.encoder);
    show();
  }

  // What is clicked before Gradio has taken the page up does not reach the server.
  document.addEventListener('attend-heard', () => {
    if (place.clicks) trigger('show', place);
  }, { once: true });
  watch('value', receive);
  receive();
}
