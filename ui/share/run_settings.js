/**
 * How a run was made: its model, its seed and the settings that were changed or have an effect, in the page's words; all others
 * are in a fold.
 */

/** @import { InterventionEntry, RunDocument } from '../../decoding/run/run_document' */
/** @import { Named, Settings } from '../kit/js/setting.js' */

import { make } from '../kit/js/dom.js';
import { inWords, usedBy, wordOf } from '../kit/js/setting.js';

/** @typedef {Named & {neutral: number | string | null}} Parameter as SHOWN in ui/share/bundle.py */

/** @param {RunDocument} run */
export function makeSettings(run) {
  const parameters = /** @type {Parameter[]} */ (JSON.parse(document.getElementById('attend-settings').textContent));
  const settings = Object.fromEntries(Object.entries(run.settings ?? {}).map(([name, value]) => [name, typed(value)]));
  const rows = Object.entries(settings).map(([name, value]) => {
    const { label, choices } = parameters.find((parameter) => parameter.name === name) ?? { label: name, choices: [] };
    return make('tr', {}, make('th', { scope: 'row', text: label }), make('td', { text: wordOf({ choices }, value) }));
  });
  return make('div', { class: 'at-sm at-quiet at-shared-settings' },
    make('p', { text: settingsInWords(run, parameters, settings).join(' · ') }),
    ...(rows.length ? [make('details', {}, make('summary', { text: 'All settings' }),
      make('table', { class: 'at-grid' }, make('tbody', {}, ...rows)))] : []));
}

/** @param {RunDocument} run @param {Parameter[]} parameters @param {Settings} settings */
function settingsInWords({ model, seed, interventions = [] }, parameters, settings) {
  const worthSaying = usedBy(parameters, settings).filter(({ name, default: usual, neutral }) => name in settings && name !== 'seed'
    && (name === 'strategy' || settings[name] !== usual || (neutral !== null && settings[name] !== neutral)));
  return [
    model, ...worthSaying.map((parameter) => inWords(parameter, settings[parameter.name])),
    ...(interventions.length ? [`without ${interventions.map(partName).join(', ')}`] : []),
    ...(seed === null ? [] : [`seed ${seed}`]),
  ];
}

/** A setting of a run document as it is typed into a form. @param {unknown} value */
function typed(value) {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'object' && value !== null) return Object.entries(value).map((pair) => pair.join(':')).join(', ');
  return typeof value === 'number' ? value : String(value);
}

/** A part of the model that was switched off, as model/inspection/naming.py calls it. @param {InterventionEntry} part */
function partName({ part, layer, head, action, factor }) {
  const word = part === 'head' ? '' : `${part.replace('head', 'attention').replace('_', '-')} `;
  return `${word}${layer + 1}${head === undefined ? '' : `.${head + 1}`}${action === 'scale' ? ` x ${factor}` : ''}`;
}
