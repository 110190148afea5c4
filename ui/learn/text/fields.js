/**
 * Slots with which a reader changes a chapter's input: lines of text, sliders, choices, words, buttons.
 */

/** @import { SlotView, SlotWiring } from './slot_values.js' */

import { make, makeButton } from '../../kit/js/dom.js';
import { labelled, numberSlider } from '../lesson.js';
import { valueOf } from './slot_values.js';
import { typing } from './typing.js';

/** The changes of one input, which may be inside of a list. @param {SlotWiring} wiring @param {any} value */
function changed({ name, slot, controls }, value) {
  const [root, index] = name.split('.');
  const also = Object.fromEntries(Object.entries(slot.also ?? {}).map(([key, one]) => [key, one ?? undefined]));
  controls.change({ ...also, [root]: index === undefined ? value : controls.latest(root).with(Number(index), value) });
}

/** Ask a moment after the last key, so that a word is not looked up letter by letter. @param {() => void} ask */
function debounced(ask) {
  let waiting = 0;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, 250);
  };
}

/** @param {SlotWiring} wiring @param {'input' | 'textarea'} tag @returns {SlotView} */
function typed(wiring, tag) {
  const { name, slot: { wide, size, live, bare, maxlength, rows }, label } = wiring;
  const field = make(tag, {
    type: tag === 'input' ? 'text' : null, class: wide ? 'at-grow' : null, size, maxlength, rows, spellcheck: 'false',
    autocapitalize: live ? 'none' : null, 'aria-label': bare ? label : null,
  });
  const text = typing(field, live);
  const take = () => changed(wiring, text.take());
  if (live) field.addEventListener('input', debounced(take));
  else field.addEventListener('change', take);
  return {
    node: bare ? field : labelled(label, field),
    put: (input) => {
      const value = valueOf(input, name);
      if (value !== undefined) text.put(value);
    },
    draw: (result) => {
      field.readOnly = Boolean(result.readonly?.includes(name));
    },
  };
}

/** @param {SlotWiring} wiring */
export const line = (wiring) => typed(wiring, 'input');
/** @param {SlotWiring} wiring */
export const area = (wiring) => typed(wiring, 'textarea');

/** @param {SlotWiring} wiring @returns {SlotView} */
export function check(wiring) {
  const box = make('input', { type: 'checkbox', onchange: () => changed(wiring, box.checked) });
  const put = (input) => {
    box.checked = Boolean(valueOf(input, wiring.name));
  };
  return { node: make('label', { class: 'at-lesson-field' }, box, make('span', { text: wiring.label })), put };
}

/** @param {SlotWiring} wiring @returns {SlotView} */
export function slider(wiring) {
  const { name, slot: { min, max, step }, label } = wiring;
  const field = numberSlider(label, { min, max, step }, (value) => changed(wiring, value));
  return {
    node: field.node,
    draw: (result) => {
      const limits = result.limits?.[name];
      if (limits) field.reach(limits[0], limits[1]);
    },
    put: (input) => {
      if (valueOf(input, name) !== undefined) field.put(valueOf(input, name));
    },
  };
}

/** @param {SlotWiring} wiring @returns {SlotView} */
export function select(wiring) {
  const { name, slot, label, controls } = wiring;
  const list = make('select', {
    'aria-label': label,
    onchange: () => changed(wiring, typeof options[list.selectedIndex]?.[0] === 'number' ? Number(list.value) : list.value),
  });
  /** @type {[value: string | number, text: string][]} */
  let options = [];

  function draw() {
    const offered = controls.value(slot.options) ?? [];
    const all = typeof offered === 'number' ? Array.from({ length: offered }, (_, index) => index + 1) : offered;
    const next = all.map((one) => (Array.isArray(one) ? one : [one, String(one)]));
    if (JSON.stringify(next) === JSON.stringify(options)) return; // else the list may be open
    options = next;
    list.replaceChildren(...options.map(([value, text]) => make('option', { value, text, title: value })));
  }

  const put = (input) => {
    list.value = String(valueOf(input, name) ?? '');
  };
  return { node: labelled(label, list), draw, put };
}

/** A choice between a few, in one row. @param {SlotWiring} wiring @returns {SlotView} */
export function choice(wiring) {
  const { name, slot, label, cases, controls } = wiring;
  const inputs = slot.cases.map((value, index) => make('input', {
    type: 'radio', class: 'at-hidden', name: `lesson-${name}`, value, onchange: () => changed(wiring, slot.values[index]),
  }));
  const labels = inputs.map((input, index) => make('label', {}, input, make('span', {}, ...controls.say(cases[slot.cases[index]]))));
  const node = make('div', { class: 'at-lesson-field' }, make('span', { text: label, 'aria-hidden': 'true' }),
    make('fieldset', { class: 'at-switch' }, make('legend', { class: 'at-hidden', text: label }), ...labels));
  const put = (values) => inputs.forEach((input, index) => {
    input.checked = slot.values[index] === valueOf(values, name);
  });
  return { node, put };
}

/** A text of the small model, word by word. @param {SlotWiring} wiring @returns {SlotView} */
export function words(wiring) {
  const { name, slot, label, controls } = wiring;
  const slots = make('span', { class: 'at-slots' });
  const disabled = true; // until there are words
  const more = makeButton('+', () => changed(wiring, [...ids, ids.at(-1)]), { 'aria-label': `${label}: add a word`, disabled });
  const less = makeButton('−', () => changed(wiring, ids.slice(0, -1)), { 'aria-label': `${label}: remove the last word`, disabled });
  const node = make('fieldset', { class: 'at-row at-wrap at-gap-xs at-sentence' }, make('legend', { class: 'at-md at-quiet', text: label }), slots, less, more);
  /** @type {number[]} */
  let ids = [];

  function draw(result) {
    ids = valueOf(result.inputs, name);
    while (slots.children.length > ids.length) slots.lastElementChild.remove();
    while (slots.children.length < ids.length) slots.append(wordSelect(slots.children.length));
    slots.querySelectorAll('select').forEach((one, index) => {
      one.value = String(ids[index]);
    });
    more.disabled = ids.length >= controls.value(slot.longest);
    less.disabled = ids.length <= 1;
  }

  function wordSelect(index) {
    const list = make('select', { 'aria-label': `${label}: word ${index + 1}` },
      ...controls.value(slot.options).map((word, id) => make('option', { value: id, text: word })));
    list.addEventListener('change', () => changed(wiring, ids.with(index, Number(list.value))));
    return list;
  }

  return { node, draw };
}

/** @param {SlotWiring} wiring @returns {SlotView} */
export function button({ slot: { changes, adds, primary, once }, label, controls }) {
  const stepped = () => Object.entries(adds).map(([name, by]) => [name, Math.min(controls.latest(name) + by, mostOf(name))]);
  const mostOf = (name) => controls.value('limits')?.[name]?.[1] ?? Infinity;
  const node = makeButton(label, () => (once ? controls.ask(changes) : controls.change({ ...changes, ...Object.fromEntries(stepped()) })), {
    class: primary ? 'at-primary' : 'at-plain', disabled: Object.keys(adds).length > 0, // until the numbers and their limits are known
  });
  const draw = () => {
    node.disabled = Object.keys(adds).some((name) => controls.latest(name) >= mostOf(name));
  };
  return { node, draw };
}

/** Buttons that fill in an example each. @param {SlotWiring} wiring @returns {SlotView} */
export function examples({ name, slot, label, controls }) {
  const node = make('div', { class: 'at-row at-wrap at-gap-sm', role: 'group', 'aria-label': label });
  let offered = '';
  const draw = () => {
    const all = slot.examples ?? controls.value(name) ?? [];
    if (JSON.stringify(all) === offered) return;
    offered = JSON.stringify(all);
    node.replaceChildren(...all.map(([text, changes]) => makeButton(text, () => {
      controls.forget();
      controls.change(Object.fromEntries(Object.entries(changes).map(([key, value]) => [key, value ?? undefined])));
    })));
  };
  if (slot.examples) draw();
  return { node, draw };
}

/** Back to the chapter's own example. @param {SlotWiring} wiring @returns {SlotView} */
export const reset = ({ label, controls }) => ({ node: makeButton(label || 'Reset', controls.restart) });
