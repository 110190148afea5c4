/**
 * The conversation as the model reads it: the kind of chat format, and the exact prompt with its control tokens.
 */

import { termLink } from '../glossary/term_link.js';
import { find } from '../kit/js/dom.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, watch }) {
  const fold = find(element, '.attend-prompt');
  const manner = find(element, '.attend-prompt-manner');
  const of = find(element, '.attend-prompt-of');
  const text = find(element, '.attend-prompt-text');

  function draw() {
    if (!props.value) return;
    const value = JSON.parse(props.value);
    fold.hidden = !value.manner;
    manner.textContent = value.manner;
    of.replaceChildren(...(value.of ? [value.of, ' · '] : []), termLink('chat-format', 'What is a chat format?'));
    text.replaceChildren(
      ...value.parts.map(([content, control]) => {
        const part = document.createElement(control ? 'b' : 'span');
        part.textContent = content;
        return part;
      }),
    );
  }

  watch('value', draw);
  draw();
}
