/**
 * A comparison in the page's address: the settings of its cards, whether its prompt is a message, and whether the cards share
 * their random numbers. The prompt, the model and the sidebar's settings are other parts of the address.
 *
 * @typedef {{cards: Settings[], answer: boolean, common: boolean}} LinkedComparison
 */

/** @import { CompareForm } from './compare_contract' */
/** @import { Settings } from './cards/form.js' */

import { isModelNameless, MAX_PROMPT, modelParts, removeOnceWorking, takePart, withParts } from '../kit/address/address.js';
import { isInvalid } from '../kit/js/setting.js';
import { connected } from '../kit/js/signals.js';

const PART = 'comparison';
const MAX_LINKED = 2000; // characters in a link, as many as of a prompt

/** The comparison in the address, which is removed once the visitor starts to work with it. @param {CompareForm} offered @returns {LinkedComparison | null} */
export function takeLinked(offered) {
  const text = takePart(PART, (value) => readLinked(offered, value) !== null);
  if (text === null) return null;
  connected.subscribe(null, () => removeOnceWorking(PART));
  return readLinked(offered, text);
}

/** @param {CompareForm} offered @param {string} text @returns {LinkedComparison | null} null if it is not a valid comparison */
export function readLinked({ parameters, fewest, most }, text) {
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const isSetting = ([name, value]) => {
    const { kind, choices = [] } = known.get(name) ?? {};
    if (kind === 'number') return !isInvalid(known.get(name), value);
    if (kind === 'word') return choices.some(([choice]) => choice === value);
    return kind !== undefined && typeof value === 'string'; // checked when it is used
  };
  if (text.length > MAX_LINKED) return null;
  let read;
  try {
    read = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(read) || !Array.isArray(read.cards) || read.cards.length < fewest || read.cards.length > most) return null;
  if (!read.cards.every((card) => isObject(card) && Object.entries(card).every(isSetting))) return null;
  return { cards: read.cards, answer: read.answer === true, common: read.common !== false };
}

/**
 * The address that restores a comparison, and what it can't restore.
 * @param {string} address of the page
 * @param {LinkedComparison & {text: string, history: boolean, seed: number}} comparison `seed`: of the texts in sight; -1 for none
 * @returns {{address: string | null, without: string[]}} `address` is null if the cards are too long
 */
export function linkOf(address, { text, history: hasHistory, seed, cards, answer, common }) {
  const linked = JSON.stringify({ cards, ...(answer && { answer }), ...(!common && { common }) });
  if (linked.length > MAX_LINKED) return { address: null, without: [] };
  const isLong = text.length > MAX_PROMPT;
  const without = [...(isLong ? ['the prompt (it is too long)'] : []), ...(hasHistory ? ['the chat history'] : []),
    ...(isModelNameless() ? ['your model (it isn’t in the catalogue)'] : [])];
  const parts = { ...modelParts(), tab: 'Compare', [PART]: linked, prompt: isLong ? null : text, ...(seed >= 0 && { seed }) };
  return { address: withParts(address, parts), without };
}
