/**
 * What the chapters of the lesson share: paragraphs, parts, fields, sliders.
 *
 * A chapter asks the server for its numbers, with the visitor's changes, and draws the result.
 *
 * @typedef {(root: HTMLElement, ask: (given: object) => void, first: any) => (result: any) => void} Build
 *   fills `root` and returns what draws a result; `first`: the initial values of its fields, by name
 */

import { explained } from '../glossary/marking.js';
import { make } from '../kit/js/dom.js';
import { withFormulas } from '../kit/js/formula.js';

/**
 * @param {string} text a paragraph of the lesson: what stands between backticks is a name in the code, between dollar signs a
 *   formula
 */
export const paragraph = (text) => explained(make('p', { class: 'at-lesson-text' }, ...text.split('`').flatMap((part, index) =>
  (index % 2 ? [make('code', { text: part })] : withFormulas(part)))));

/**
 * A part of a chapter, under a heading of its own.
 * @param {string} title
 * @param {...(Node | string)} children
 */
export const lessonPart = (title, ...children) =>
  make('section', { class: 'at-lesson-part', 'aria-label': title }, explained(make('h3', { text: title })), ...children);

/**
 * A field with its name.
 * @param {string} name
 * @param {HTMLElement} input
 */
export const labelled = (name, input) => make('label', { class: 'at-lesson-field' }, make('span', { text: name }), input);

/** @param {...(Node | string)} children what stands side by side */
export const sideBySide = (...children) => make('div', { class: 'at-lesson-row' }, ...children);

/** @param {string} text @param {() => void} onclick */
export const plainButton = (text, onclick) => make('button', { type: 'button', class: 'at-plain', text, onclick });

/**
 * A labelled checkbox.
 * @param {string} name
 * @param {(checked: boolean) => void} onChange
 */
export function checkbox(name, onChange) {
  const box = make('input', { type: 'checkbox', onchange: () => onChange(box.checked) });
  const node = make('label', { class: 'at-lesson-field' }, box, make('span', { text: name }));
  const put = (checked) => {
    box.checked = checked;
  };
  return { node, put };
}

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
 * @param {{min: number, max: number, step?: number, value: number}} range
 * @param {(value: number) => void} onChange
 */
export function numberSlider(name, range, onChange) {
  const slider = make('input', { type: 'range', step: 1, ...range, 'aria-label': name });
  const box = make('input', { type: 'number', step: 1, ...range, 'aria-label': `${name}, as a number` });
  const limits = rangeHint(box);
  const changed = (from, to) => () => {
    if (from === box && !limits.right()) return;
    to.value = from.value;
    limits.right();
    onChange(Number(from.value));
  };
  slider.addEventListener('input', changed(slider, box));
  box.addEventListener('input', changed(box, slider));
  const node = make('div', { class: 'at-lesson-field' }, explained(make('span', { text: name })), slider, box, limits.node);
  const put = (value) => {
    slider.value = box.value = String(value);
    limits.right();
  };
  /** @param {number} min @param {number} max the range from now on */
  const reach = (min, max) => [slider, box].forEach((input) => Object.assign(input, { min, max }));
  return { node, put, reach };
}

/**
 * A choice between a few words, in one row.
 * @param {string} name what is chosen
 * @param {[value: string, text: string][]} options
 * @param {(value: string) => void} onChange
 */
export function choiceSwitch(name, options, onChange) {
  const group = `lesson-${name.toLowerCase().replaceAll(' ', '-')}`;
  const inputs = options.map(([value]) => make('input', {
    type: 'radio', class: 'at-hidden', name: group, value, onchange: () => onChange(value),
  }));
  const labels = inputs.map((input, index) => make('label', {}, input, make('span', { text: options[index][1] })));
  const node = make('div', { class: 'at-lesson-field' }, make('span', { text: name, 'aria-hidden': 'true' }),
    make('fieldset', { class: 'at-switch' }, make('legend', { class: 'at-hidden', text: name }), ...labels));
  /** @param {string} value */
  const put = (value) => inputs.forEach((input) => {
    input.checked = input.value === value;
  });
  return { node, put };
}
