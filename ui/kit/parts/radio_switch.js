/**
 * A switch: a few words beside each other, of which one is chosen.
 */

import { make } from '../js/dom.js';

/**
 * @template {string} Value
 * @param {string} name of the group of radio buttons
 * @param {string} legend for screen readers
 * @param {Record<Value, string>} labels by their values
 * @param {(value: Value) => void} onChoose called when the visitor chooses
 */
export function makeRadioSwitch(name, legend, labels, onChoose) {
  const entries = /** @type {[Value, string][]} */ (Object.entries(labels));
  const inputs = /** @type {Record<Value, HTMLInputElement>} */ (Object.fromEntries(entries.map(([value]) =>
    [value, make('input', { type: 'radio', name, value, class: 'at-hidden', onchange: () => onChoose(value) })])));
  const node = make('fieldset', { class: 'at-switch' }, make('legend', { class: 'at-hidden', text: legend }),
    ...entries.map(([value, text]) => make('label', {}, inputs[value], make('span', { text }))));
  /** @param {Value} value */
  const choose = (value) => { inputs[value].checked = true; };
  return { node, inputs, choose };
}
