/**
 * The model in use, the list to choose another from, and the progress of one that is loading.
 *
 * The list opens above the page (a popover), so that nothing in it is cut off beside the settings. Events: 'choose'
 * (`typed` for a name from the box) and 'cancel'. It also tells the settings how much the model reads and which decoding
 * method it begins with.
 *
 * The address names the models of the page's own list alone: never a folder, and no link makes a page load what its visitor
 * would have to name. Those stay in the browser's history, for a reload and for Back.
 */

/** @import { ChoiceValue, ModelValue, PrecisionValue } from './contract' */

import { onceConnected, partOf, takePart, whenMoved, writeParts } from '../kit/address/address.js';
import { around, find, make } from '../kit/js/dom.js';
import { closeOnEscape, onPlane, presses } from '../kit/js/keys.js';
import { currentModel } from '../kit/js/signals.js';
import { unpacked } from '../kit/js/values.js';

const PRECISION = / \[(32|16|8) bits\]$/; // at the end of a name, see `with_precision` of model/names.py
const WIDEST = 440; // pixels
const MARGIN = 8; // pixels between the list and the window's edge
const LEAST = 280; // pixels of height that the list gets at least

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-model');
  const { any_name: anyName } = unpacked(props.form);
  /** @type {ModelValue} */
  let value = unpacked(props.value);
  let listed = '';
  const home = value.name; // the model of an address without one
  const listedNames = value.choices.map((choice) => choice.name);
  /** @param {string} name */
  const isLinkable = (name) => name !== home && (listedNames.includes(name) || listedNames.includes(name.replace(PRECISION, '')));
  let picked = ''; // the model that the visitor asked for, until it is there

  const chosen = make('button', { type: 'button', id: 'attend-model-chosen', 'aria-haspopup': 'listbox' });
  const list = make('div', { role: 'listbox', 'aria-label': 'Models' });
  const box = make('input', { type: 'text', class: 'at-text-field', id: 'attend-other-model', placeholder: 'Folder, GGUF file or owner/name' });
  const other = make('form', {}, make('label', { for: 'attend-other-model', text: 'Another model' }),
    make('div', {}, box, make('button', { type: 'submit', class: 'at-plain', text: 'Load' })));
  const sheet = make('div', { class: 'at-models', popover: 'auto' }, list, ...(anyName ? [other] : []));
  chosen.popoverTargetElement = sheet;
  const precision = make('select', { 'aria-label': 'Precision', onchange: choosePrecision });
  const precisionRow = make('div', { class: 'at-precision' },
    make('label', {}, make('span', { text: 'Precision' }), precision),
    make('span', { class: 'at-model-about', text: 'Fewer bits are faster but less exact.' }));
  const title = make('p', { class: 'attend-model-coming', role: 'status' });
  const bar = make('progress', { class: 'attend-model-bar', 'aria-label': 'Loading progress' });
  const status = make('p', { class: 'attend-model-status' });
  const cancel = make('button', {
    type: 'button', id: 'attend-model-cancel', class: 'at-plain', text: 'Cancel', onclick: () => trigger('cancel'),
  });
  const notes = make('ul', { class: 'attend-model-notes' });
  root.replaceChildren(make('span', { class: 'at-model-label', text: 'Model' }), chosen, sheet, precisionRow, title, bar, status,
    cancel, notes);

  function draw() {
    if (!props.value) return;
    value = unpacked(props.value);
    const { name, choices, precisions, context, method, title: isLoading } = value;
    if (title.textContent !== value.title) title.textContent = value.title; // read out once, not with every byte
    title.dataset.current = value.title ? '' : name;
    status.textContent = value.status;
    bar.hidden = cancel.hidden = !value.title;
    if (value.share === null) bar.removeAttribute('value');
    else bar.value = value.share;
    notes.replaceChildren(...value.notes.map((text) => make('li', { text })));
    if (value.clears_input) box.value = '';
    const wanted = JSON.stringify([name, choices, precisions]);
    if (listed !== wanted) {
      drawChoices(name, choices);
      drawPrecisions(name, precisions);
    }
    listed = wanted;
    if (!isLoading) currentModel.publish({ name, context, method });
  }

  /** A model is in use, or another one is on its way. */
  function receive() {
    draw();
    const { name, title: isLoading } = value;
    if (isLoading) return;
    const isNew = name === picked && name !== namedModel();
    const kept = { model: name === home ? undefined : name };
    writeParts({ model: isLinkable(name) ? name : null }, { isNew, kept });
    picked = '';
  }

  /** The model of the entry in the browser's history. */
  function namedModel() {
    const named = partOf('model');
    return history.state?.model ?? (named !== null && isLinkable(named) ? named : home);
  }

  /** Bring the model back that the address is about. */
  function follow() {
    if (namedModel() !== value.name) trigger('choose', { name: namedModel(), typed: false });
  }

  /** @param {string} name @param {ChoiceValue[]} choices */
  function drawChoices(name, choices) {
    const focused = list.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.name : null;
    const current = choices.find((choice) => choice.name === name);
    chosen.replaceChildren(...lines(current));
    chosen.disabled = !anyName && choices.length < 2;
    chosen.setAttribute('aria-label', `Model: ${current.title}`);
    list.replaceChildren(...choices.map((choice) => make('div', {
      role: 'option', tabindex: choice.name === name ? 0 : -1, 'aria-selected': String(choice.name === name),
      'aria-label': [choice.title, choice.availability, choice.about].filter(Boolean).join(', '), 'data-name': choice.name,
    }, ...lines(choice))));
    if (focused !== null) options().find((option) => option.dataset.name === focused)?.focus();
  }

  /** Hidden while another model comes. @param {string} name @param {PrecisionValue[]} precisions */
  function drawPrecisions(name, precisions) {
    precisionRow.hidden = !precisions.some((one) => one.name === name);
    precision.replaceChildren(...precisions.map((one) => make('option', { value: one.name, text: one.title })));
    precision.value = name;
  }

  /** Its name and whether it is here, over what it is for. @param {ChoiceValue} choice */
  const lines = (choice) => [
    make('span', { class: 'at-model-head' }, make('b', { text: choice.title }),
      make('span', { class: 'at-model-availability', text: choice.availability })),
    make('span', { class: 'at-model-about', text: choice.about }),
  ];

  const options = () => /** @type {HTMLElement[]} */ ([...list.children]);

  /** Under the button, as wide as there is room. */
  function positionSheet() {
    const { left, bottom } = chosen.getBoundingClientRect();
    const width = Math.min(WIDEST, innerWidth - 2 * MARGIN);
    const top = Math.max(MARGIN, Math.min(bottom + 4, innerHeight - LEAST - MARGIN));
    Object.assign(sheet.style, {
      width: `${width}px`, left: `${Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN))}px`,
      top: `${top}px`, maxHeight: `${innerHeight - top - MARGIN}px`,
    });
  }

  /** @param {string} name @param {boolean} typed */
  function choose(name, typed) {
    sheet.hidePopover();
    chosen.focus();
    request(name, typed);
  }

  function choosePrecision() {
    const wanted = precision.value;
    precision.value = value.name; // until the other one is on its way: it may be refused
    request(wanted, false);
  }

  /** @param {string} name @param {boolean} typed */
  function request(name, typed) {
    picked = name.trim();
    trigger('choose', { name, typed });
  }

  sheet.addEventListener('beforetoggle', (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === 'open') positionSheet();
  });
  sheet.addEventListener('toggle', (event) => {
    const isOpen = /** @type {ToggleEvent} */ (event).newState === 'open';
    chosen.setAttribute('aria-expanded', String(isOpen));
    // The event comes later than the list: whoever is quick types in the box already.
    if (isOpen && !sheet.contains(document.activeElement)) options().find((option) => option.tabIndex === 0)?.focus();
  });
  closeOnEscape(sheet, () => {
    sheet.hidePopover();
    chosen.focus();
  });
  list.addEventListener('click', (event) => {
    const option = around(event, '[role="option"]');
    if (option) choose(option.dataset.name, false);
  });
  list.addEventListener('keydown', (event) => {
    const all = options();
    const here = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (here < 0) return;
    const step = { Home: -here, End: all.length - 1 - here }[event.key] ?? onPlane(event.key)?.[1];
    if (presses(event.key)) choose(all[here].dataset.name, false);
    else if (step === undefined) return;
    else all[here + step]?.focus();
    event.preventDefault();
  });
  other.addEventListener('submit', (event) => {
    event.preventDefault();
    if (box.value.trim()) choose(box.value, true);
  });
  addEventListener('resize', () => sheet.hidePopover());

  takePart('model', (name) => name === home || isLinkable(name));
  watch('value', receive);
  draw();
  onceConnected(follow);
  whenMoved(follow, { isFirst: true });
}
