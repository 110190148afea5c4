/**
 * The formatted texts that have arrived, and those to request: the conversation asks this module, and the switch asks the server.
 */

/** @import { FormattedNode } from '../chat_contract' */

import { textsWanted } from '../../kit/js/signals.js';

const MAX = { texts: 500, characters: 20_000 }; // texts that are kept or asked about at once, and their characters, as the server limits them

/** @type {Map<string, FormattedNode[] | null>} by text; null until they arrive, and if the server refuses */
const known = new Map();
/** @type {string[]} */
const wanted = [];

/**
 * A text as elements; null until they arrive, which `textView` announces.
 * @param {string} text
 */
export function formatted(text) {
  if (!known.has(text)) {
    if (known.size >= MAX.texts) known.clear();
    known.set(text, null);
    wanted.push(text);
    queueMicrotask(() => textsWanted.publish(null));
  }
  return known.get(text);
}

/** The texts of the next question, which are no longer wanted afterwards. */
export const takeWanted = () => wanted.splice(0, batch(wanted));

/** @param {string[]} texts @param {FormattedNode[][]} trees of those that the server has formatted, in this order */
export const put = (texts, trees) => trees.forEach((nodes, index) => known.set(texts[index], nodes));

/** How many of these texts fit into one question. @param {string[]} texts */
export function batch(texts) {
  let characters = 0;
  const tooMany = texts.findIndex((text, index) => index >= MAX.texts || (characters += text.length) > MAX.characters);
  return tooMany < 0 ? texts.length : Math.max(1, tooMany);
}
