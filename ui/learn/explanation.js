/**
 * What the chapters on the small transformer share: the explanation of the number under the pointer, and fields for a sentence.
 */

import { make } from '../kit/js/dom.js';
import { matrixNumber } from './matrix.js';

/** The line at the bottom of a chapter, always visible. @param {string} point what to do at first */
export function explanationLine(point) {
  const hint = `${point} to see how it was computed. Click it, or use Tab and the arrow keys, to keep it selected.`;
  const node = make('p', { class: 'at-explanation', role: 'status', text: hint });
  return {
    node,
    /** @param {...(string | Element)} parts */
    say: (...parts) => node.replaceChildren(...parts),
  };
}

/** @param {number | null} number in a term of a sum or product */
export const factor = (number) => `(${matrixNumber(number, 2)})`;

/**
 * a·b written out, no product broken between two lines: (0.59)(−1.18) + …
 * @param {number[]} left @param {number[]} right
 */
export const dotProduct = (left, right) =>
  left.map((one, k) => `${factor(one)}\u2060${factor(right[k])}`).join(' + ');

/**
 * A text of the small model, word by word.
 * @param {string} name
 * @param {(ids: number[]) => void} onChange
 */
export function sentenceField(name, onChange) {
  const slots = make('span', { class: 'at-slots' });
  const more = make('button', { type: 'button', class: 'at-plain', text: '+', 'aria-label': `${name}: add a word` });
  const less = make('button', {
    type: 'button', class: 'at-plain', text: '−', 'aria-label': `${name}: remove the last word`,
  });
  const node = make('fieldset', { class: 'at-sentence' }, make('legend', { text: name }), slots, less, more);
  /** @type {number[]} */
  let ids = [];
  more.addEventListener('click', () => onChange([...ids, ids.at(-1)]));
  less.addEventListener('click', () => onChange(ids.slice(0, -1)));

  /** @param {number[]} next @param {string[]} words by their ids @param {number} longest */
  function put(next, words, longest) {
    while (slots.children.length > next.length) slots.lastElementChild.remove();
    while (slots.children.length < next.length) slots.append(slot(slots.children.length, words));
    slots.querySelectorAll('select').forEach((select, index) => {
      select.value = String(next[index]);
    });
    ids = next;
    more.disabled = next.length >= longest;
    less.disabled = next.length <= 1;
  }

  function slot(index, words) {
    const select = make('select', { 'aria-label': `${name}: word ${index + 1}` },
      ...words.map((word, id) => make('option', { value: id, text: word })));
    select.addEventListener('change', () => onChange(ids.map((id, i) => (i === index ? Number(select.value) : id))));
    return select;
  }

  return { node, put };
}
