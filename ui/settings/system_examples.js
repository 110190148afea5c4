/**
 * Example system prompts, each a button, and a button that restores the text before.
 */

import { find, make, typeInto } from '../kit/js/dom.js';

const EXAMPLES = {
  'One sentence': 'Answer in one sentence.',
  'Simple words': 'Explain everything in words that a ten-year-old knows.',
  Pirate: 'You are a pirate. Talk like one.',
  Poet: 'You are a poet. Answer in rhyme.',
};

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element }) {
  let before = '';
  const undo = make('button', { type: 'button', class: 'at-plain', text: 'Undo', title: 'Restore your own prompt', hidden: true, onclick: () => write(before) });
  const choices = Object.entries(EXAMPLES).map(([name, text]) =>
    make('button', { type: 'button', class: 'at-plain', text: name, title: text, onclick: () => choose(text) }));
  find(element, '.attend-system-examples').replaceChildren(
    make('div', { class: 'at-row at-wrap at-gap-xs at-system-examples', role: 'group', 'aria-label': 'Example system prompts' }, ...choices, undo));

  /** @param {string} text */
  function choose(text) {
    const box = textBox();
    if (undo.hidden) before = box.value;
    write(text);
    undo.hidden = false;
    box.addEventListener('input', () => { undo.hidden = true; }, { once: true }); // what is typed then must not be lost
  }
}

const textBox = () => find(document.body, '#attend-system textarea', HTMLTextAreaElement);

/** @param {string} text */
function write(text) {
  typeInto(textBox(), text);
  textBox().focus();
}
