/**
 * The conversation as the model reads it: the kind of chat format, and the exact prompt with its control tokens.
 */

/** @import { PromptValue } from './chat_contract' */

import { termLink } from '../glossary/term_link.js';
import { find, make } from '../kit/js/dom.js';
import { followValue } from '../kit/js/values.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const { element } = component;
  const fold = find(element, '.attend-prompt');
  const kind = find(element, '.attend-prompt-manner');
  const owner = find(element, '.attend-prompt-of');
  const text = find(element, '.attend-prompt-text');

  followValue(component, (/** @type {PromptValue} */ { manner, of, parts }) => {
    fold.hidden = !manner;
    kind.textContent = manner;
    owner.replaceChildren(...(of ? [of, ' · '] : []), termLink('chat-format', 'What is a chat format?'));
    text.replaceChildren(...parts.map(([content, isControl]) => make(isControl ? 'b' : 'span', { text: content })));
  });
}
