/**
 * The settings in the page's address: every setting that was changed, so that a reload or a copied link restores it. They are those
 * for the kind of model in use; those for the others are kept by the browser's tab over a reload.
 */

/** @import { PanelField, PanelForm, PanelValue } from './settings_contract' */
/** @import { PanelState } from './panel_state.js' */

import { partOf, takeParts, writeParts } from '../kit/address/address.js';
import { isInvalid, readSetting } from '../kit/js/setting.js';
import { isReload, isReturn, keepOverReload, keptObject } from '../kit/js/storage.js';
import { stageNames } from './stages.js';

const KEPT = 'settings'; // the name in `sessionStorage`

/** @param {PanelForm} form @param {PanelState} state */
export function readAddress(form, state) {
  const known = new Map(form.parameters.map((parameter) => [parameter.name, parameter]));
  const isUnderstood = (name, value) => known.has(name) && isValid(form, known.get(name), value);
  const address = new URLSearchParams(location.search.replace(/([?&])way=/, '$1method=')); // as in older links
  const changed = [...address].filter(([name, value]) => isUnderstood(name, value)).map(([name]) => name);
  const named = Object.hasOwn(form.methods, address.get('method')) ? address.get('method') : null;
  const method = named ?? (changed.some((name) => state.isBeyondFirst(name)) ? form.preset_method : null);
  /** @type {Record<string, any>} */
  const values = {};
  takeParts((name, value) => {
    if (name === 'method' || name === 'way') return value === method;
    if (isUnderstood(name, value)) values[name] = readSetting(known.get(name), value);
    return isUnderstood(name, value);
  });
  const all = kept(form);
  state.restore(all);
  const usual = history.state?.usualMethod ?? form.tab_methods[partOf('tab')] ?? null;
  // After a reload, what was kept may be newer than the address. A page opened by a link has no state of its own yet.
  const newest = isReload() ? all[history.state?.usualMethod] : null;
  state.open(newest ?? { method, values }, {
    usual: Object.hasOwn(form.methods, usual) ? usual : null, model: history.state?.model ?? partOf('model'),
  });
}

/** @param {PanelForm} form @param {PanelState} state @param {import('../kit/address/address.js').Parts} others */
export function writeAddress(form, state, others = {}) {
  keepOverReload(KEPT, JSON.stringify(state.all));
  if (state.isAwaiting) return writeParts(others);
  const { values, usualMethod } = state;
  const parts = form.parameters.map(({ name }) => [name, values[name] === state.startOf(name) ? null : values[name] ?? '']);
  const isImplied = state.method === usualMethod && !parts.some(([name, value]) => value !== null && state.isBeyondFirst(name));
  const method = isImplied ? null : state.method;
  writeParts({ ...others, way: null, method, ...Object.fromEntries(parts) }, { kept: { usualMethod } });
}

/** What the tab kept of this page's settings, unless a link has led here. @param {PanelForm} form @returns {Record<string, PanelValue>} */
function kept(form) {
  const all = isReturn() ? keptObject(KEPT) : {};
  const isKnown = (method) => Object.hasOwn(form.methods, method);
  const sets = Object.entries(all).filter(([usual, set]) => isKnown(usual) && isKnown(set?.method));
  return Object.fromEntries(sets.map(([usual, { method, values }]) => {
    const parameters = form.parameters.filter((parameter) => isStillValid(form, parameter, values?.[parameter.name]));
    return [usual, { method, values: Object.fromEntries(parameters.map(({ name }) => [name, values[name]])) }];
  }));
}

/** A length may be longer than the first model's context. @param {PanelForm} form @param {PanelField} parameter @param {unknown} value */
const isStillValid = (form, parameter, value) =>
  ['string', 'number'].includes(typeof value) && isValid(form, { ...parameter, maximum: parameter.longest ?? parameter.maximum }, String(value));

/** @param {PanelForm} form @param {PanelField} parameter @param {string} value */
function isValid(form, parameter, value) {
  switch (parameter.kind) {
    case 'number': return !isInvalid(parameter, readSetting(parameter, value));
    case 'word': return parameter.choices.some(([choice]) => choice === value);
    case 'order': return stageNames(value).every((stage) => Object.hasOwn(form.stages, stage));
    default: return true; // the server checks a text when it is used
  }
}
