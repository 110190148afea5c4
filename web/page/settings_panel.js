/**
 * The settings beside the text, and what they say under Python's names.
 */

/** @import { PanelForm, PanelValue } from '../../ui/settings/settings_contract' */
/** @typedef {ReturnType<typeof mountSettings>} Settings */

import { start } from '../../ui/settings/panel.js';
import { mount } from './component.js';
import { plain } from './typed.js';

const SHARED = ['max_new_tokens', 'top_candidates', 'seed']; // by all cards of a comparison

/**
 * The settings of a run: the panel's or, for a branch, those of its run with the panel's length.
 * @param {import('../service.js').Branch | undefined} branch
 * @param {Record<string, any>} typed
 */
export const settingsOf = (branch, typed) => (branch ? { ...branch.run.settings, max_new_tokens: Math.max(typed.max_new_tokens, branch.run.settings.min_new_tokens) } : typed);

/** @param {Element} parent @param {PanelForm} form */
export function mountSettings(parent, form) {
  const { props } = mount(parent, start, 'attend-settings at-stack', { form, value: null });

  /** Those that the chosen method shows, as typed; all others have their defaults. @returns {Record<string, any>} */
  function readTyped() {
    const { method, values } = /** @type {PanelValue} */ (props.value), { shows, strategy = null } = form.methods[method];
    const used = strategy ?? values.strategy;
    const names = form.parameters.filter((parameter) => (!shows || shows.includes(parameter.name)) && parameter.strategies.includes(used))
      .map(({ name }) => name);
    return { ...pick(values, names), strategy: used };
  }

  /** @param {string[]} names */
  const pick = (values, names) => Object.fromEntries(names.map((name) => [name, values[name]]));

  return { readTyped, read: () => plain(readTyped()), readShared: () => pick(props.value.values, SHARED) };
}
