/**
 * The settings of the page without a server: a method, and its numbers.
 */

import { make } from '../../ui/kit/js/dom.js';

/** What each method sets; a number in a field takes the place of the one here. */
const METHODS = {
  Greedy: { strategy: 'greedy' },
  Temperature: { strategy: 'sample', temperature: 0.6 },
  'Top-k': { strategy: 'sample', temperature: 0.8, top_k: 40 },
  'Top-p': { strategy: 'sample', temperature: 0.8, top_p: 0.9 },
  'Min-p': { strategy: 'sample', temperature: 1, min_p: 0.1 },
  'Beam search': { strategy: 'beam', num_beams: 4 },
};
const FIELDS = {
  temperature: { label: 'Temperature', min: 0, max: 5, step: 0.1 },
  top_k: { label: 'Top-k', min: 1, max: 1000, step: 1 },
  top_p: { label: 'Top-p', min: 0.01, max: 1, step: 0.01 },
  min_p: { label: 'Min-p', min: 0, max: 1, step: 0.01 },
  num_beams: { label: 'Beams', min: 2, max: 16, step: 1 },
};

export function makeSettings() {
  const method = make('select', { 'aria-label': 'Decoding method', onchange: draw },
    ...Object.keys(METHODS).map((name) => make('option', { value: name, text: name, selected: name === 'Temperature' })));
  const length = makeField('max_new_tokens', { label: 'Longest answer', min: 1, max: 400, step: 1 }, 128);
  const seed = makeField('seed', { label: 'Seed (empty: random)', min: 0, max: 999_999, step: 1 }, '');
  const numbers = make('span', { class: 'at-row at-wrap at-gap-sm' });
  const node = make('div', { class: 'at-row at-wrap at-gap-sm at-md at-alone-settings' }, method, numbers, length, seed);

  /** The fields of the chosen method. */
  function draw() {
    const preset = METHODS[method.value];
    numbers.replaceChildren(...Object.keys(FIELDS).filter((name) => name in preset).map((name) => makeField(name, FIELDS[name], preset[name])));
  }

  /** The settings under Python's names. @returns {Record<string, any>} */
  function values() {
    const fields = [...node.querySelectorAll('input')].filter((field) => field.value !== '');
    return { ...METHODS[method.value], ...Object.fromEntries(fields.map((field) => [field.name, Number(field.value)])) };
  }

  draw();
  return { node, values };
}

/** @param {string} name @param {{label: string, min: number, max: number, step: number}} limits @param {number | ''} value */
function makeField(name, { label, ...limits }, value) {
  return make('label', { class: 'at-row at-gap-xs' }, label, make('input', { type: 'number', name, value, ...limits }));
}
