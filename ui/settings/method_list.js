/**
 * The list of decoding methods: the common ones first, the others folded under "More methods", and "Custom" last.
 */

/** @import { MethodValue } from './settings_contract' */

import { make } from '../kit/js/dom.js';

/**
 * @param {Record<string, MethodValue>} methods by their names
 * @param {(method: string) => void} pick
 */
export function makeMethodList(methods, pick) {
  const entries = Object.entries(methods).map(([name, { help, group }]) => {
    const input = make('input', { type: 'radio', name: 'attend-method', value: name, class: 'at-hidden', 'aria-label': name,
      'aria-description': help, onchange: () => pick(name) });
    return { name, group, input, row: make('label', { class: 'at-row at-gap-sm at-option' }, input,
      make('span', { class: 'at-name', text: name }), make('span', { class: 'at-hint', text: help })) };
  });
  const rowsOf = (group) => entries.filter((entry) => entry.group === group).map(({ row }) => row);
  const more = make('details', { class: 'at-more' }, make('summary', { class: 'at-option', text: 'More methods' }), ...rowsOf('more'));
  const scope = make('span', { class: 'at-hint' });
  const node = make('fieldset', { id: 'attend-method', class: 'at-field' },
    make('legend', {}, 'Decoding method ', scope), ...rowsOf('basic'), more, ...rowsOf('custom'));

  /** @param {string} method the chosen one @param {string[]} tabs that it is for */
  function draw(method, tabs) {
    scope.textContent = tabs.length ? `for ${tabs.join(' and ')}` : '';
    for (const { name, group, input, row } of entries) {
      input.checked = name === method;
      if (input.checked && group === 'more') more.open = true;
      row.classList.toggle('selected', input.checked);
    }
  }

  return { node, draw };
}
