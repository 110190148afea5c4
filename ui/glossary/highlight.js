/**
 * Marks the first occurrence of each term in the texts of a section.
 */

import { SECTION, UNMARKED, termLink } from './term_link.js';
import { termsIn } from './matching.js';

const OPAQUE = 'a, button, code, math';

/**
 * @param {Element} section
 * @returns {Element[]} its texts that were not yet marked
 */
export function highlight(section) {
  const isOwn = (node) => node.closest(SECTION) === section;
  const texts = [...section.querySelectorAll(`[${UNMARKED}]`)].filter(isOwn);
  const known = new Set([...section.querySelectorAll('.at-term')].filter(isOwn).map((link) => link.getAttribute('data-term')));
  for (const text of texts) {
    text.removeAttribute(UNMARKED);
    markTerms(text, known);
  }
  return texts;
}

/**
 * Make links of the terms in a text, but for those that are known.
 * @param {Element} root
 * @param {Set<string>} known which it adds to
 */
export function markTerms(root, known) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const texts = [];
  while (walker.nextNode()) {
    const text = /** @type {Text} */ (walker.currentNode);
    if (!text.parentElement.closest(OPAQUE)) texts.push(text);
  }
  for (const text of texts) {
    let rest = text;
    let before = 0; // characters
    for (const { key, from, to } of termsIn(text.data)) {
      if (known.has(key)) continue;
      known.add(key);
      const word = rest.splitText(from - before);
      rest = word.splitText(to - from);
      before = to;
      word.replaceWith(termLink(key, word.data));
    }
  }
}
