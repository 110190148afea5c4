/**
 * The controls of a setting, from Python's declaration of it, and what is typed into them.
 *
 * Where the controls stand, and what happens when they change, is each form's own business.
 */

/** @import { SettingField } from '../kit_contract' */

import { make } from './dom.js';
import { isWithin, parseNumber } from './number.js';

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
 * What is typed into its control.
 * @param {SettingField} setting
 * @param {string} text
 * @returns {number | string | null} null for what is no number where there should be one
 */
export const readSetting = ({ kind }, text) => (kind === 'number' ? parseNumber(text) : text);

/** Whether a number is none or out of range; of texts the server's check has the sentence. @param {SettingField} setting @param {unknown} value */
export const isInvalid = (setting, value) => setting.kind === 'number' && !isWithin(value, setting);

/** Which numbers are right, in words. @param {SettingField} setting */
export const rangeText = ({ minimum, maximum, integer }) =>
  `${integer ? 'a whole number' : 'a number'} from ${minimum} to ${maximum}`;
