/**
 * The controls of a setting, from Python's declaration of it, what is typed into them, and a setting in words.
 *
 * Where the controls stand, and what happens when they change, is each form's own business.
 *
 * @typedef {Record<string, number | string>} Settings those that differ from their defaults, as typed
 * @typedef {Pick<SettingField, 'name' | 'label' | 'kind' | 'choices' | 'default' | 'strategies'>} Named a setting, as far as
 *   words for it need it
 */

/** @import { SettingField } from '../kit_contract' */

import { make } from './dom.js';
import { isWithin, parseNumber } from './number.js';
import { signed } from './text.js';

/**
 * A box for its number or text, or the list of its words.
 * @param {SettingField} setting
 * @param {Parameters<typeof make>[1]} attributes
 */
export function makeControl({ kind, minimum, maximum, step, choices, placeholder }, attributes) {
  if (kind === 'word') {
    return make('select', attributes, ...choices.map(([value, text]) => make('option', { value, text })));
  }
  if (kind !== 'number') return make('input', { type: 'text', placeholder, autocomplete: 'off', spellcheck: 'false', ...attributes });
  const inputmode = minimum < 0 ? null : 'decimal'; // whose keys have no minus
  return make('input', { type: 'number', min: minimum, max: maximum, step, inputmode, ...attributes });
}

/** @param {SettingField} setting a number @param {Parameters<typeof make>[1]} attributes */
export const makeSlider = ({ minimum, maximum, step }, attributes) =>
  make('input', { type: 'range', min: minimum, max: maximum, step, ...attributes });

/**
 * The value that is typed into its control.
 * @param {SettingField} setting
 * @param {string} text
 * @returns {number | string | null} null if it should be a number and isn't
 */
export const readSetting = ({ kind }, text) => (kind === 'number' ? parseNumber(text) : text);

/** Whether a number is missing or out of range; texts are checked by the server. @param {SettingField} setting @param {unknown} value */
export const isInvalid = (setting, value) => setting.kind === 'number' && !isWithin(value, setting);

/** The range of a number, in words. @param {SettingField} setting */
export const rangeText = ({ minimum, maximum, integer }) =>
  `${integer ? 'a whole number' : 'a number'} from ${minimum} to ${maximum}`;

/** @param {Settings} settings @param {Named} parameter */
export const valueOf = (settings, parameter) => settings[parameter.name] ?? parameter.default;

/** The parameters that the strategy uses. @template {Named} P @param {P[]} parameters @param {Settings} settings */
export function usedBy(parameters, settings) {
  const strategy = String(valueOf(settings, parameters.find(({ name }) => name === 'strategy')));
  return parameters.filter((parameter) => parameter.strategies.includes(strategy));
}

/** What a value is called. @param {Pick<Named, 'choices'>} parameter @param {number | string} value as typed */
export function wordOf({ choices }, value) {
  if (typeof value === 'number') return signed(String(value));
  return choices.find(([choice]) => choice === value)?.[1] ?? value;
}

/** A setting as "Top-k 40", or as "Sampling" for the strategy. @param {Named} parameter @param {number | string} value as typed */
export function inWords(parameter, value) {
  if (parameter.name === 'strategy') return wordOf(parameter, value);
  return parameter.kind === 'order' ? parameter.label : `${parameter.label} ${wordOf(parameter, value)}`;
}
