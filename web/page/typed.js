/**
 * Settings as they are typed into a form.
 */

import { parseNumber } from '../../ui/kit/js/number.js';
import { stageNames } from '../../ui/settings/stages.js';

/**
 * The values of settings: typed lists have commas between their entries.
 * @param {Record<string, any>} typed
 * @returns {Record<string, any>}
 */
export function plain(typed) {
  return Object.fromEntries(Object.entries(typed).map(([name, value]) =>
    [name, typeof value === 'string' && name in READERS ? READERS[name](value) : value]));
}

/** @param {string} text entries between commas or, where they contain commas, a JSON list */
const strings = (text) => (text.trimStart().startsWith('[') ? parsed(text) : text.split(',').map((part) => part.trim()).filter(Boolean));

/** @param {string} text such as "5:-100, 7:2.5", or a JSON object */
const biases = (text) => (text.trimStart().startsWith('{') ? parsed(text)
  : Object.fromEntries(text.split(',').filter((pair) => pair.trim()).map((pair) => {
    const [id, ...others] = pair.split(':').map((part) => part.trim()), bias = others.join(':');
    return [id, parseNumber(bias) ?? bias]; // anything but a number is refused later, as it was typed
  })));

/** @type {Record<string, (text: string) => any>} by the setting */
const READERS = { order: stageNames, banned_words: strings, stop_texts: strings, logit_bias: biases };

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${text} is not valid JSON: put commas between the entries instead.`);
  }
}
