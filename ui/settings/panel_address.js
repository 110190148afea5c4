/**
 * The settings in the page's address: every setting that was changed, so that a reload or a copied link restores it.
 */

/** @import { PanelField, PanelForm } from './settings_contract' */
/** @import { PanelState } from './panel_state.js' */

import { partOf, takeParts, writeParts } from '../kit/address/address.js';
import { isInvalid, readSetting } from '../kit/js/setting.js';
import { stageNames } from './stages.js';

/** @param {PanelForm} form @param {PanelState} state */
export function readAddress(form, state) {
  const known = new Map(form.parameters.map((parameter) => [parameter.name, parameter]));
  const isUnderstood = (name, value) => known.has(name) && isValid(form, known.get(name), value);
  const address = new URLSearchParams(location.search.replace(/([?&])way=/, '$1method=')); // as in older links
  const changed = [...address].filter(([name, value]) => isUnderstood(name, value)).map(([name]) => name);
  const named = Object.hasOwn(form.methods, address.get('method')) ? address.get('method') : null;
  const method = named ?? (changed.some((name) => state.isBeyondFirst(name)) ? form.preset_method : null);
  if (method !== null) state.openWith(method, history.state?.model ?? partOf('model'));
  takeParts((name, value) => {
    if (name === 'method' || name === 'way') return value === state.method;
    if (isUnderstood(name, value)) state.values[name] = readSetting(known.get(name), value);
    return isUnderstood(name, value);
  });
}

/** @param {PanelForm} form @param {PanelState} state @param {import('../kit/address/address.js').Parts} others */
export function writeAddress(form, state, others = {}) {
  const { values } = state;
  const parts = form.parameters.map(({ name }) => [name, values[name] === state.startOf(name) ? null : values[name] ?? '']);
  const isImplied = state.method === state.usualMethod && !parts.some(([name, value]) => value !== null && state.isBeyondFirst(name));
  const method = isImplied ? null : state.method;
  writeParts({ ...others, way: null, method, ...Object.fromEntries(parts) });
}

/** @param {PanelForm} form @param {PanelField} parameter @param {string} value */
function isValid(form, parameter, value) {
  switch (parameter.kind) {
    case 'number': return !isInvalid(parameter, readSetting(parameter, value));
    case 'word': return parameter.choices.some(([choice]) => choice === value);
    case 'order': return stageNames(value).every((stage) => Object.hasOwn(form.stages, stage));
    default: return true; // the server checks a text when it is used
  }
}
