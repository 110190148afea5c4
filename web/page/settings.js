/**
 * The settings beside the text, and what they say under Python's names.
 */

/** @import { PanelForm, PanelValue } from '../../ui/settings/settings_contract' */
/** @typedef {ReturnType<typeof mountSettings>} Settings */

import { start } from '../../ui/settings/panel.js';
import { stageNames } from '../../ui/settings/stages.js';
import { mount } from './component.js';

const SHARED = ['max_new_tokens', 'top_candidates', 'seed']; // by all cards of a comparison

/** @param {Element} parent @param {PanelForm} form */
export function mountSettings(parent, form) {
  const { props } = mount(parent, start, 'attend-settings at-stack', { form, value: null });

  /** Those that the chosen method shows; all others have their defaults. @returns {Record<string, any>} */
  function read() {
    const { method, values } = /** @type {PanelValue} */ (props.value), { shows, strategy = null } = form.methods[method];
    const used = strategy ?? values.strategy;
    const names = form.parameters.filter((parameter) => (!shows || shows.includes(parameter.name)) && parameter.strategies.includes(used))
      .map(({ name }) => name);
    return plain({ ...pick(values, names), strategy: used });
  }

  /** @param {string[]} names */
  const pick = (values, names) => Object.fromEntries(names.map((name) => [name, values[name]]));

  return { read, readShared: () => pick(props.value.values, SHARED) };
}

/**
 * Settings as typed into a form, as values: lists have commas between their entries.
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
  : Object.fromEntries(text.split(',').filter((pair) => pair.trim()).map((pair) => pair.split(':').map((part) => part.trim())).map(([id, bias]) => [id, Number(bias)])));

/** @type {Record<string, (text: string) => any>} by the setting */
const READERS = { order: stageNames, banned_words: strings, stop_texts: strings, logit_bias: biases };

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${text} is no JSON: put commas between the entries instead.`);
  }
}
