/**
 * The fields of the panel: a setting's name, its control, its help, and what is wrong with its value.
 *
 * Fields do not know each other: the state has the values, and the panel draws all fields whenever one has changed.
 *
 * @typedef {{box: HTMLElement, parameter: PanelField, draw: (value: any) => void}} Field
 */

/** @import { PanelField, PanelForm } from './settings_contract' */
/** @import { PanelState } from './panel_state.js' */

import { explained } from '../glossary/marking.js';
import { make, setText } from '../kit/js/dom.js';
import { isInvalid, makeControl, makeSlider, rangeText, readSetting } from '../kit/js/setting.js';

/** @param {string} name of a setting @returns {string} the id of its field */
export const idOf = (name) => `attend-${name.replaceAll('_', '-')}`;

/** @param {PanelField} parameter @param {PanelForm} form @param {PanelState} state @returns {Field} */
export function makeField(parameter, form, state) {
  switch (parameter.kind) {
    case 'number': return { parameter, ...numberField(parameter, state) };
    case 'word': return { parameter, ...wordField(parameter, state, form.meanings) };
    case 'order': return { parameter, ...orderField(parameter, state, form.labels) };
    default: return { parameter, ...textField(parameter, state) };
  }
}

/** @param {PanelField} parameter @param {PanelState} state */
function numberField(parameter, state) {
  const { name, label, minimum, maximum } = parameter;
  const entry = makeEntry(parameter, state);
  const slider = maximum - minimum < 1e6
    ? makeSlider(parameter, { 'aria-label': label, oninput: () => state.change({ [name]: readSetting(parameter, slider.value) }) }) : null;
  const reset = make('button', { type: 'button', class: 'at-plain at-reset', text: '↺', title: 'Reset', 'aria-label': `${label}: reset`,
    onclick: () => state.change({ [name]: state.startOf(name) }) });
  const wrong = make('p', { class: 'at-wrong', id: `${idOf(name)}-wrong`, role: 'alert' });
  const box = make('div', { id: idOf(name), class: 'at-field' }, makeHead(entry, label, reset, entry), wrong,
    explained(makeHelp(parameter)), ...(slider ? [slider] : []));
  const draw = (value) => {
    entry.max = String(parameter.maximum);
    if (readSetting(parameter, entry.value) !== value || (value === null && document.activeElement !== entry)) entry.value = value ?? '';
    const isRefused = isInvalid(parameter, value);
    entry.setAttribute('aria-invalid', String(isRefused));
    setText(wrong, isRefused ? `Must be ${rangeText(parameter)}.` : '');
    reset.classList.toggle('at-away', value === state.startOf(name));
    if (!slider) return;
    slider.max = String(parameter.maximum);
    slider.value = value ?? minimum;
    slider.style.setProperty('--share', String((Number(slider.value) - minimum) / (parameter.maximum - minimum)));
  };
  return { box, draw };
}

/** @param {PanelField} parameter @param {PanelState} state */
function textField(parameter, state) {
  const entry = makeEntry(parameter, state);
  const box = make('div', { id: idOf(parameter.name), class: 'at-field' }, makeHead(entry, parameter.label),
    explained(makeHelp(parameter)), entry);
  return { box, draw: (value) => { if (entry.value !== value) entry.value = value; } };
}

/**
 * A list to choose from, with the meaning of the chosen word under it.
 * @param {PanelField} parameter @param {PanelState} state @param {PanelForm['meanings']} meanings
 */
function wordField(parameter, state, meanings) {
  const entry = makeEntry(parameter, state);
  const help = makeHelp(parameter);
  const box = make('div', { id: idOf(parameter.name), class: 'at-field' }, makeHead(entry, parameter.label, entry), help);
  const draw = (value) => {
    entry.value = value;
    help.textContent = meanings[value] ?? parameter.help;
  };
  return { box, draw };
}

/** @param {PanelField} parameter @param {PanelState} state @param {PanelForm['labels']} labels */
function orderField(parameter, state, labels) {
  const list = make('ol');
  const box = make('div', { id: idOf(parameter.name), class: 'at-field' },
    make('div', { class: 'at-head' }, make('span', { text: parameter.label })), explained(makeHelp(parameter)), list);
  /** @param {string} stage @param {1 | -1} by @param {string} sign @param {string} words @param {boolean} disabled */
  const arrow = (stage, by, sign, words, disabled) => make('button', { type: 'button', class: 'at-plain', text: sign, 'data-by': by,
    'aria-label': `${labels[stage]}: ${words}`, title: words, disabled, onclick: () => {
      state.moveStage(stage, by);
      /** @type {NodeListOf<HTMLElement>} */
      const enabled = list.querySelectorAll(`[data-stage="${stage}"] button:not(:disabled)`);
      ([...enabled].find((button) => button.dataset.by === String(by)) ?? enabled[0])?.focus();
    } });
  const draw = () => {
    const stages = state.stagesOn();
    list.replaceChildren(...stages.map((stage, index) => make('li', { class: 'at-row at-gap-xs', 'data-stage': stage },
      make('span', { class: 'at-grow', text: labels[stage] }),
      arrow(stage, -1, '↑', 'earlier', index === 0), arrow(stage, 1, '↓', 'later', index === stages.length - 1))));
    if (!stages.length) list.replaceChildren(make('li', { class: 'at-none', text: 'No filters are on.' }));
  };
  return { box, draw };
}

/** @param {PanelField} parameter @param {PanelState} state */
function makeEntry(parameter, state) {
  const { name, kind } = parameter;
  const described = [`${idOf(name)}-help`, ...(kind === 'number' ? [`${idOf(name)}-wrong`] : [])].join(' ');
  const entry = /** @type {HTMLInputElement} */ (makeControl(parameter, { id: `${idOf(name)}-value`,
    'aria-describedby': described, oninput: () => state.change({ [name]: readSetting(parameter, entry.value) }) }));
  return entry;
}

/** @param {HTMLElement} entry @param {string} label @param {...HTMLElement} others */
const makeHead = (entry, label, ...others) =>
  make('div', { class: 'at-head' }, explained(make('label', { for: entry.id, text: label })), ...others);

/** @param {PanelField} parameter */
const makeHelp = ({ name, help }) => make('p', { class: 'at-help', id: `${idOf(name)}-help`, text: help });
