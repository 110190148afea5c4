/**
 * Finds the token at which a word of the formatted text begins. Markdown keeps words unchanged, so the third "fox" of one text
 * is the third of the other; if one text has more of them, there is no answer.
 */

const WORD = /[\p{L}\p{N}]+/gu;

/**
 * The number of the token in which a word begins.
 * @param {string} formatted the text as it is read, with something between any two pieces of it
 * @param {number} offset of a character of the word
 * @param {string[]} tokens that the text was written in
 * @returns {number | null} null where there is no word, or no answer
 */
export function tokenOfWord(formatted, offset, tokens) {
  const all = [...formatted.matchAll(WORD)];
  const clicked = all.find(({ index, 0: word }) => index <= offset && offset < index + word.length);
  if (!clicked) return null;
  const isSame = (/** @type {RegExpMatchArray} */ match) => match[0] === clicked[0];
  const [here, there] = [all, [...tokens.join('').matchAll(WORD)]].map((matches) => matches.filter(isSame));
  if (here.length !== there.length) return null;
  const begin = there[here.indexOf(clicked)].index;
  let end = 0;
  return tokens.findIndex((token) => (end += token.length) > begin);
}

/**
 * The text of an element, and which of its characters was clicked.
 * @param {HTMLElement} root
 * @param {MouseEvent} event
 * @returns {{text: string, offset: number} | null} null if no text was clicked
 */
export function clickedText(root, { clientX, clientY }) {
  const caret = document.caretPositionFromPoint?.(clientX, clientY);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let text = '';
  let offset = null;
  while (walker.nextNode()) {
    if (walker.currentNode === caret?.offsetNode) offset = text.length + caret.offset;
    text += `${walker.currentNode.textContent}\n`; // so that no word goes on in the next element
  }
  return offset === null ? null : { text, offset };
}
