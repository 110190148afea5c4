/**
 * The list of models, and the box for another model's name. It is a popover, so that the settings' edge does not cut it off.
 */

/** @import { ChoiceValue } from './models_contract' */

import { around, make } from '../kit/js/dom.js';
import { alongColumn, closeOnEscape, moveAlong } from '../kit/js/keys.js';

const WIDEST = 440; // pixels
const MARGIN = 8; // pixels between the list and the window's edge
const MIN_HEIGHT = 280; // pixels of the list

/**
 * @param {HTMLButtonElement} button opens it
 * @param {boolean} anyName whether the box is offered
 * @param {(name: string, typed: boolean) => void} choose
 */
export function makeModelList(button, anyName, choose) {
  const list = make('div', { role: 'listbox', 'aria-label': 'Models' });
  const box = make('input', { type: 'text', class: 'at-text-field at-grow', id: 'attend-other-model', placeholder: 'Folder, GGUF file or owner/name' });
  const other = make('form', {}, make('label', { for: 'attend-other-model', text: 'Another model' }),
    make('div', { class: 'at-row at-stretch' }, box, make('button', { type: 'submit', class: 'at-plain', text: 'Load' })));
  const node = make('div', { class: 'at-models at-panel at-scroll', popover: 'auto' }, list, ...(anyName ? [other] : []));
  button.popoverTargetElement = node;

  const options = () => /** @type {HTMLElement[]} */ ([...list.children]);

  /** @param {string} name the model in use @param {ChoiceValue[]} choices */
  function draw(name, choices) {
    const focused = list.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.name : null;
    list.replaceChildren(...choices.map((choice) => make('div', {
      class: 'at-option', role: 'option', tabindex: choice.name === name ? 0 : -1, 'aria-selected': String(choice.name === name),
      'aria-label': [choice.title, choice.availability, choice.about].filter(Boolean).join(', '), 'data-name': choice.name,
    }, ...choiceLines(choice))));
    if (focused !== null) options().find((option) => option.dataset.name === focused)?.focus();
  }

  /** Place the list under the button, as wide as there is room. */
  function position() {
    const { left, bottom } = button.getBoundingClientRect();
    const width = Math.min(WIDEST, innerWidth - 2 * MARGIN);
    const top = Math.max(MARGIN, Math.min(bottom + 4, innerHeight - MIN_HEIGHT - MARGIN));
    Object.assign(node.style, {
      width: `${width}px`, left: `${Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN))}px`,
      top: `${top}px`, maxHeight: `${innerHeight - top - MARGIN}px`,
    });
  }

  function close() {
    node.hidePopover();
    button.focus();
  }

  /** @param {string} name @param {boolean} typed */
  function take(name, typed) {
    close();
    choose(name, typed);
  }

  node.addEventListener('beforetoggle', (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === 'open') position();
  });
  node.addEventListener('toggle', (event) => {
    const isOpen = /** @type {ToggleEvent} */ (event).newState === 'open';
    button.setAttribute('aria-expanded', String(isOpen));
    // The event comes after the list has opened, so a quick visitor may already be typing in the box.
    if (isOpen && !node.contains(document.activeElement)) options().find((option) => option.ariaSelected === 'true')?.focus();
  });
  closeOnEscape(node, close);
  list.addEventListener('click', (event) => {
    const option = around(event, '[role="option"]');
    if (option) take(option.dataset.name, false);
  });
  list.addEventListener('keydown', (event) => moveAlong(event, options(), (option) => take(option.dataset.name, false), alongColumn));
  other.addEventListener('submit', (event) => {
    event.preventDefault();
    if (box.value.trim()) take(box.value, true);
  });
  addEventListener('resize', () => node.hidePopover());

  return {
    node, draw,
    clearBox: () => {
      box.value = '';
    },
  };
}

/** A model's name and whether it is installed, above what it is for. @param {ChoiceValue} choice */
export const choiceLines = (choice) => [
  make('span', { class: 'at-row at-wrap at-stretch at-between at-model-head' }, make('b', { text: choice.title }),
    make('span', { class: 'at-sm at-quiet at-model-availability', text: choice.availability })),
  make('span', { class: 'at-sm at-quiet at-model-about', text: choice.about }),
];
