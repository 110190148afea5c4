/**
 * The settings of a card: a short summary, and the form that changes them.
 *
 * The settings, their ranges and their help come from the server, which checks again whatever is sent.
 *
 * @typedef {import('../../kit/js/setting.js').Settings} Settings
 */

/** @import { CardField, CompareForm } from '../compare_contract' */

import { iconButton, make, makeButton } from '../../kit/js/dom.js';
import { inWords, isInvalid, makeControl, rangeText, readSetting, usedBy, valueOf } from '../../kit/js/setting.js';

/** @param {any} one @param {any} other settings of one kind */
export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * A card in a few words: its name, which is what sets it apart from the other cards, and its other settings that have an
 * effect. A filter that is off is part of the name only where nothing else is; cards that equal all others have no name.
 * @param {Pick<CompareForm, 'parameters'>} offered @param {Settings} settings @param {Settings[]} all of the cards
 * @returns {{name: string[], others: string[]}}
 */
export function summary({ parameters }, settings, all) {
  const apart = [];
  const others = [];
  for (const parameter of usedBy(parameters, settings)) {
    const { name, neutral, panel } = parameter;
    const value = valueOf(settings, parameter);
    const isMethod = name === 'strategy';
    // Of the sidebar's settings, a card names those that it changes.
    const acts = isMethod || (panel ? name in settings : neutral !== null && value !== neutral);
    const own = (/** @type {Settings} */ card) => (panel ? card[name] : valueOf(card, parameter));
    const differs = all.some((other) => usedBy(parameters, other).includes(parameter) && !same(own(other), own(settings)));
    const text = inWords(parameter, value);
    if (value === '' || (panel && !acts)) continue;
    if (differs) apart.push({ text, isOff: !acts && neutral !== null });
    else if (acts) others.push(text);
  }
  const on = apart.filter(({ isOff }) => !isOff);
  return { name: (on.length ? on : apart).map(({ text }) => text), others };
}

/**
 * @param {CompareForm} offered
 * @param {{change: (settings: Settings) => void, panel: () => void}} actions
 */
export function makeForm(offered, actions) {
  const fields = make('div', { class: 'at-fields' });
  const preset = makeChoice('Start from a preset', 'Choose a preset …');
  offered.presets.forEach(({ name }, index) => preset.append(make('option', { value: index, text: name })));
  const panel = makeButton('Use Chat settings', actions.panel,
    { 'data-help': 'Copies the decoding method and all its parameters from Chat and Write.' });
  const more = makeChoice('Add a setting', 'Add a setting …');
  const node = make('fieldset', { class: 'at-md at-form' },
    make('legend', { class: 'at-hidden', text: 'Settings of this card' }),
    make('div', { class: 'at-row at-wrap at-gap-sm' }, preset, panel), fields, make('div', {}, more));
  /** @type {Settings} */
  let settings = {};
  /** @type {Set<string>} the settings that were added by hand, whether or not they have been changed */
  let added = new Set();
  /** @type {Record<string, number | string>} the sidebar's, which hold where the card has none of its own */
  let panelValues = {};

  preset.addEventListener('change', () => {
    const { max_new_tokens: length } = settings; // presets set the method, not the length
    const { settings: presetSettings } = offered.presets[Number(preset.value)];
    show(length === undefined ? presetSettings : { ...presetSettings, max_new_tokens: length });
    actions.change(settings);
  });
  more.addEventListener('change', () => {
    const { value } = more;
    added.add(value);
    draw();
    field(value).focus();
  });

  /** @param {Settings} next in place of all that the form had */
  function show(next) {
    settings = next;
    added = new Set();
    draw();
  }

  /** @param {CardField} parameter */
  const inSight = ({ name, main }) => main || name in settings || added.has(name);
  const field = (name) => /** @type {HTMLElement | null} */ (fields.querySelector(`[data-name="${name}"]`));

  function draw() {
    const used = usedBy(offered.parameters, settings);
    fields.replaceChildren(...used.filter(inSight).map(makeField));
    fields.classList.toggle('at-with-added', used.some((parameter) => inSight(parameter) && !parameter.main));
    more.replaceChildren(more.firstChild,
      ...used.filter((parameter) => !inSight(parameter)).map(({ name, label }) => make('option', { value: name, text: label })));
    more.value = '';
    preset.value = '';
  }

  /** @param {string} name @param {number | string | undefined} value undefined removes the card's own value */
  function put(name, value) {
    const { [name]: _, ...others } = settings;
    settings = value === undefined ? others : { ...others, [name]: value };
    actions.change(settings);
  }

  /** @param {CardField} parameter */
  function makeField(parameter) {
    const { label, help, name, main, panel: isShared } = parameter;
    const value = isShared ? settings[name] ?? '' : valueOf(settings, parameter);
    const control = makeControl(parameter, { 'data-name': name });
    const wrong = make('span', { class: 'at-sm at-wrong', role: 'alert' });
    control.value = String(value);
    if (isShared) control.setAttribute('placeholder', String(panelValues[name] ?? ''));
    control.addEventListener('change', () => {
      const typed = isShared && control.value.trim() === '' ? undefined : readSetting(parameter, control.value);
      const isRefused = typed !== undefined && isInvalid(parameter, typed);
      control.setAttribute('aria-invalid', String(isRefused));
      wrong.textContent = isRefused ? `${label} must be ${rangeText(parameter)}.` : '';
      if (isRefused) return;
      put(name, typed);
      if (name !== 'strategy') return;
      draw(); // another strategy has other settings
      field(name).focus();
    });
    const row = make('label', { class: control instanceof HTMLSelectElement && 'at-choice', 'data-help': help || null }, make('span', { text: label }), control, wrong);
    if (main) return row;
    const remove = iconButton('remove', `Remove ${label}`, () => {
      added.delete(name);
      put(name, undefined);
      draw();
      more.focus();
    });
    return make('div', { class: 'at-row at-top at-added' }, row, remove);
  }

  return {
    node, show,
    invalidField: () => /** @type {HTMLElement | null} */ (fields.querySelector('[aria-invalid="true"]')),
    /** Show the sidebar's values where the card has none of its own. @param {Record<string, number | string>} values */
    hold: (values) => {
      panelValues = values;
      for (const [name, value] of Object.entries(values)) field(name)?.setAttribute('placeholder', String(value ?? ''));
    },
  };
}

/** @param {string} label @param {string} hint what it says when nothing is chosen */
const makeChoice = (label, hint) =>
  make('select', { 'aria-label': label }, make('option', { value: '', text: hint, disabled: true, selected: true }));
