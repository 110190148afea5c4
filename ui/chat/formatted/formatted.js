/**
 * Formatted text as elements: headings, lists, tables, code to copy, links.
 */

/** @import { FormattedNode } from '../chat_contract' */

import { around, make } from '../../kit/js/dom.js';
import { copyButton } from '../../kit/js/transfer.js';
import { clickedText, tokenOfWord } from './word.js';

/**
 * An answer's formatted text, which takes the place of its tokens.
 * @param {HTMLElement} tokens
 * @param {{texts: () => string[], open: (index: number) => void}} wiring `texts` of the tokens; `open` is called with the
 *   number of a clicked word's first token
 */
export function makeReading(tokens, { texts, open }) {
  const node = make('div', { class: 'at-formatted', dir: 'auto', hidden: true });
  /** @type {FormattedNode[] | null} */
  let drawnNodes = null;

  /** @param {FormattedNode[] | null} nodes null for the tokens */
  function show(nodes) {
    if (nodes && nodes !== drawnNodes) node.replaceChildren(...elements(nodes));
    drawnNodes = nodes ?? drawnNodes;
    node.hidden = !nodes?.length;
    tokens.hidden = !node.hidden;
  }

  node.addEventListener('click', (event) => {
    if (around(event, 'a, button') || String(getSelection()).length) return; // a text selection is no click
    const clicked = clickedText(node, event);
    const index = clicked && tokenOfWord(clicked.text, clicked.offset, texts());
    if (index !== null) open(index);
  });

  return { node, show };
}

/** @param {FormattedNode[]} nodes @returns {Node[]} */
export const elements = (nodes) => nodes.map(element);

/** @param {FormattedNode} node @returns {Node} */
function element({ tag, text = '', children = [], language = '', href, start }) {
  if (tag === 'text') return document.createTextNode(text);
  if (tag === 'code') return make('code', { text });
  if (tag === 'pre') return codeBlock(text, language);
  if (tag === 'a') {
    return make('a', { href, title: href, target: '_blank', rel: 'noopener noreferrer' }, ...elements(children));
  }
  const node = make(tag, { start }, ...elements(children));
  return tag === 'table' ? make('div', { class: 'at-table-scroll', tabindex: 0 }, node) : node;
}

/** @param {string} text @param {string} language */
function codeBlock(text, language) {
  return make('div', { class: 'at-panel at-code', dir: 'ltr' },
    make('div', { class: 'at-row at-between at-sm at-quiet at-code-head' }, make('span', { text: language }), copyButton('Copy code', () => text)),
    make('pre', { tabindex: 0 }, make('code', { text })));
}
