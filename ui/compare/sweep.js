/**
 * A sweep over the visitor's own values: one setting, and a card for each value.
 */

/** @import { CardField, CompareForm } from './compare_contract' */
/** @import { Settings } from './cards/form.js' */

import { make } from '../kit/js/dom.js';
import { parseNumber } from '../kit/js/number.js';
import { isInvalid, rangeText } from '../kit/js/setting.js';
import { foldOut } from '../kit/parts/fold_out.js';

/**
 * Cards that differ in one setting, under a strategy that uses it.
 * @param {Pick<CompareForm, 'parameters' | 'fewest' | 'most'>} offered
 * @param {CardField} parameter a number
 * @param {string} text numbers between commas, semicolons or spaces
 * @returns {{cards: Settings[]} | {wrong: string}} `wrong` says why the values make no cards
 */
export function sweepOf({ parameters, fewest, most }, parameter, text) {
  const values = text.split(/[\s,;]+/).filter(Boolean).map(parseNumber);
  if (values.length < fewest || values.length > most) return { wrong: `Enter ${fewest} to ${most} values, separated by commas.` };
  if (values.some((value) => isInvalid(parameter, value))) return { wrong: `Each value must be ${rangeText(parameter)}.` };
  const usual = String(parameters.find(({ name }) => name === 'strategy').default);
  const strategy = parameter.strategies.includes(usual) ? {} : { strategy: parameter.strategies[0] };
  return { cards: values.map((value) => ({ ...strategy, ...(value === parameter.default ? {} : { [parameter.name]: value }) })) };
}

/**
 * The chip that opens the form, and the form.
 * @param {CompareForm} offered
 * @param {(cards: Settings[]) => void} fill
 */
export function makeSweep(offered, fill) {
  const numbers = offered.parameters.filter(({ kind, panel }) => kind === 'number' && !panel);
  const setting = make('select', { 'aria-label': 'Setting to vary' },
    ...numbers.map(({ name, label }) => make('option', { value: name, text: label })));
  const values = make('input', { type: 'text', 'aria-label': 'Values, one per card', placeholder: 'e.g. 0.2, 0.7, 1.3',
    autocomplete: 'off', 'aria-describedby': 'attend-sweep-wrong' });
  const wrong = make('span', { class: 'at-sm at-wrong', id: 'attend-sweep-wrong', role: 'alert' });
  const node = make('form', { class: 'at-row at-wrap at-gap-sm at-md at-ask-row at-sweep' }, setting, values,
    make('button', { type: 'submit', class: 'at-plain', text: 'Fill cards' }), wrong);
  const chip = make('button', { type: 'button', class: 'at-plain', text: 'Custom values …' });
  foldOut(chip, node, () => values);

  node.addEventListener('submit', (event) => {
    event.preventDefault();
    const sweep = sweepOf(offered, numbers.find(({ name }) => name === setting.value), values.value);
    const isRefused = 'wrong' in sweep;
    values.setAttribute('aria-invalid', String(isRefused));
    wrong.textContent = isRefused ? sweep.wrong : '';
    if ('cards' in sweep) fill(sweep.cards);
    else values.focus();
  });
  return { node, chip };
}
