/**
 * The model in use, its precision, a translator's languages, and the progress of a model that is loading.
 *
 * Events: 'choose' (`typed` for a name from the box), 'cancel', 'translate' (between other languages) and 'differs' (a link was
 * made with other weights). It publishes the model's context length and default decoding method for the settings, and what links
 * say of it.
 *
 * The address names only models of the page's own list, so no link can make a page load a folder or another model. The
 * browser's history keeps those, for a reload and for Back.
 */

/** @import { ChoiceValue, ModelValue, PrecisionValue } from './models_contract' */

import { partOf, takePart, whenMoved, writeParts } from '../kit/address/address.js';
import { find, make, makeButton, setText } from '../kit/js/dom.js';
import { connected, currentModel } from '../kit/js/signals.js';
import { unpacked } from '../kit/js/values.js';
import { makeInBrowserLink } from './in_browser.js';
import { makeLanguages } from './languages.js';
import { choiceLines, makeModelList } from './model_list.js';

const PRECISION = / \[(32|16|8) bits\]$/; // at the end of a name, see `with_precision` of model/names.py
const CHECKSUM = /^[0-9a-f]{12}$/; // as model/sandbox/checksum.py makes it

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-model');
  const { any_name: anyName, in_browser: runsInBrowser } = unpacked(props.form);
  /** @type {ModelValue} */
  let value = unpacked(props.value);
  let drawnKey = '';
  const home = value.name; // the model of an address without one
  const listedNames = value.choices.map((choice) => choice.name);
  /** @param {string} name */
  const isLinkable = (name) => name !== home && (listedNames.includes(name) || listedNames.includes(name.replace(PRECISION, '')));
  let requested = ''; // the model that the visitor asked for, until it is in use

  const button = make('button', { type: 'button', id: 'attend-model-chosen', 'aria-haspopup': 'listbox', 'aria-labelledby': 'attend-model-label attend-model-chosen' });
  const list = makeModelList(button, anyName, request);
  const precision = make('select', { 'aria-label': 'Precision', onchange: choosePrecision });
  const precisionRow = make('div', { class: 'at-precision' },
    make('label', { class: 'at-row at-between' }, make('span', { text: 'Precision' }), precision),
    make('span', { class: 'at-sm at-quiet at-model-about', text: 'Fewer bits are faster but less exact.' }));
  const inBrowser = makeInBrowserLink();
  const title = make('p', { class: 'attend-model-coming', role: 'status' });
  const bar = make('progress', { class: 'at-progress attend-model-bar', 'aria-label': 'Loading progress' });
  const status = make('p', { class: 'at-sm at-quiet attend-model-status' });
  const cancel = makeButton('Cancel', () => trigger('cancel'), { id: 'attend-model-cancel' });
  const notes = make('ul', { class: 'at-sm at-quiet attend-model-notes' });
  const languages = makeLanguages((source, target, count) => trigger('translate', { source, target, count }));
  root.replaceChildren(make('span', { id: 'attend-model-label', class: 'at-model-label', text: 'Model' }), button, list.node, precisionRow, inBrowser.node, title, bar, status,
    cancel, notes, languages.node);

  function draw() {
    if (!props.value) return;
    value = unpacked(props.value);
    const { name, choices, precisions, context, method, linked, checksum, title: isLoading } = value;
    setText(title, value.title);
    title.dataset.current = value.title ? '' : name;
    status.textContent = value.status;
    bar.hidden = cancel.hidden = !value.title;
    if (value.share === null) bar.removeAttribute('value');
    else bar.value = value.share;
    notes.replaceChildren(...value.notes.map((text) => make('li', { text })));
    languages.draw(value.languages);
    if (value.clears_input) list.clearBox();
    const key = JSON.stringify([name, choices, precisions]);
    if (drawnKey !== key) {
      drawChosen(name, choices);
      list.draw(name, choices);
      drawPrecisions(name, precisions);
      inBrowser.offer(runsInBrowser.includes(name.replace(PRECISION, '')));
    }
    drawnKey = key;
    if (!isLoading) currentModel.publish({ name, context, method, linked, checksum });
  }

  /** A model is in use, or another one is loading. */
  function receive() {
    draw();
    const { name, title: isLoading } = value;
    if (isLoading) return;
    const isNew = name === requested && name !== namedModel();
    const kept = { model: name === home ? undefined : name };
    writeParts({ model: isLinkable(name) ? name : null }, { isNew, kept });
    requested = '';
    compareWeights();
    keepLanguages();
  }

  /** Say so once if the model that a link led to has other weights than the link's. */
  function compareWeights() {
    if (weights === null || value.title || namedModel() !== value.name) return;
    if (value.checksum && value.checksum !== weights) trigger('differs');
    weights = null;
    writeParts({ weights });
  }

  /** Once nothing is loading or being restored: a translation that comes back brings its own languages. */
  function keepLanguages() {
    if (value.title || namedModel() !== value.name) return; // the value to come calls again
    const isRestoring = document.querySelector('.attend-history:empty') || document.body.hasAttribute('data-restoring');
    if (isRestoring) requestAnimationFrame(keepLanguages);
    else languages.keep(value.name);
  }

  /** The model of the current entry in the browser's history. */
  function namedModel() {
    const named = partOf('model');
    return history.state?.model ?? (named !== null && isLinkable(named) ? named : home);
  }

  /** Load the model that the address is about. */
  function follow() {
    if (namedModel() !== value.name) trigger('choose', { model: namedModel(), typed: false });
  }

  /** @param {string} name @param {ChoiceValue[]} choices */
  function drawChosen(name, choices) {
    const current = choices.find((choice) => choice.name === name);
    button.replaceChildren(...choiceLines(current));
    button.disabled = !anyName && choices.length < 2;
  }

  /** Hidden while another model is loading. @param {string} name @param {PrecisionValue[]} precisions */
  function drawPrecisions(name, precisions) {
    precisionRow.hidden = !precisions.some((offer) => offer.name === name);
    precision.replaceChildren(...precisions.map((offer) => make('option', { value: offer.name, text: offer.title })));
    precision.value = name;
  }

  function choosePrecision() {
    const { value: name } = precision;
    precision.value = value.name; // until the other model is loading, since it may be refused
    request(name, false);
  }

  /** @param {string} name @param {boolean} typed */
  function request(name, typed) {
    requested = name.trim();
    trigger('choose', { model: name, typed });
  }

  const isOffered = takePart('model', (name) => name === home || isLinkable(name)) !== null || partOf('model') === null;
  let weights = takePart('weights', (digits) => CHECKSUM.test(digits));
  if (!isOffered) weights = null; // the link is said to be misread already
  watch('value', receive);
  draw();
  connected.subscribe(null, () => {
    follow();
    compareWeights();
    keepLanguages();
  });
  whenMoved(follow, { isFirst: true });
}
