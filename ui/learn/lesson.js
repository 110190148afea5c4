/**
 * What the parts of a chapter are made of.
 */

import { explained } from '../glossary/marking.js';
import { make } from '../kit/js/dom.js';

/**
 * A field with its name.
 * @param {string} name
 * @param {HTMLElement} input
 */
export const labelled = (name, input) => make('label', { class: 'at-lesson-field' }, make('span', { text: name }), input);

/** @param {...(Node | string)} children what stands side by side */
export const sideBySide = (...children) => make('div', { class: 'at-lesson-row' }, ...children);

/**
 * The range of a number field, shown under it while its value is invalid.
 * @param {HTMLInputElement} box
 */
export function rangeHint(box) {
  box.required = true; // an empty field is no number
  const node = make('output', { class: 'at-lesson-limits' });
  const right = () => {
    const kind = Number.isInteger(Number(box.step)) ? 'a whole number' : 'a number';
    node.textContent = box.checkValidity() ? '' : `${kind} from ${box.min} to ${box.max}`.replaceAll('-', '−');
    return !node.textContent;
  };
  return { node, right };
}

/**
 * A slider with a number field beside it.
 * @param {string} name
 * @param {{min: number, max: number, step?: number}} range
 * @param {(value: number) => void} onChange
 */
export function numberSlider(name, range, onChange) {
  const bar = make('input', { type: 'range', step: 1, ...range, 'aria-label': name });
  const box = make('input', { type: 'number', step: 1, ...range, 'aria-label': `${name}, as a number` });
  const limits = rangeHint(box);
  const moved = (from, to) => () => {
    if (from === box && !limits.right()) return;
    to.value = from.value;
    limits.right();
    onChange(Number(from.value));
  };
  bar.addEventListener('input', moved(bar, box));
  box.addEventListener('input', moved(box, bar));
  const node = make('div', { class: 'at-lesson-field' }, explained(make('span', { text: name })), bar, box, limits.node);
  const put = (value) => {
    bar.value = String(value);
    if (document.activeElement === box) return; // a number is being typed
    box.value = String(value);
    limits.right();
  };
  /** @param {number} min @param {number} max the range from now on */
  const reach = (min, max) => [bar, box].forEach((input) => Object.assign(input, { min, max }));
  return { node, put, reach };
}
