/**
 * The settings of a run under the names of Python, each checked against what `model.json` says that it accepts.
 */

/**
 * A setting; `strategies` are those of the browser that use it.
 * @typedef {{name: string, default: any, strategies: string[], choices?: string[], minimum?: number, maximum?: number, integer?: boolean}} Parameter
 */
/** The value of every parameter, by its name. @typedef {Record<string, any>} Settings */

const COLDEST = 1e-4; // a lower temperature counts as 0
export const SEEDS = 1_000_000; // random seeds are below this, so that they are easy to read and to type

/**
 * All settings, with the defaults of those that are not given, and a definite seed where tokens are drawn.
 * @param {Parameter[]} parameters
 * @param {Settings} given
 * @returns {Settings}
 */
export function completeSettings(parameters, given) {
  const unknown = Object.keys(given).find((name) => !parameters.some((parameter) => parameter.name === name));
  if (unknown) throw new Error(`There is no setting ${unknown}.`);
  const values = parameters.map((parameter) => [parameter.name, checked(parameter, parameter.name in given ? given[parameter.name] : parameter.default)]);
  const settings = Object.fromEntries(values), problem = misfit(settings);
  if (problem) throw new Error(problem);
  const seed = settings.seed < 0 && isDrawn(settings) ? Math.floor(SEEDS * Math.random()) : settings.seed;
  return { ...settings, order: ordered(parameters, settings.order), seed };
}

/** What does not fit together, and what to do; null if all does. @param {Settings} settings */
function misfit(settings) {
  const { strategy, num_return_sequences: returned, num_beams: beams, min_new_tokens: least, max_new_tokens: most } = settings;
  if (strategy === 'sample' && returned > 1) return 'A browser samples one text at a time: set num_return_sequences to 1.';
  if (isSearch(settings) && returned > beams) return 'num_return_sequences is more than num_beams: lower the first or raise the second.';
  if (least > most) return 'min_new_tokens is more than max_new_tokens: lower the first or raise the second.';
  return null;
}

/** @param {Parameter} parameter @param {any} value */
function checked({ name, default: usual, strategies, choices, minimum, maximum, integer }, value) {
  if (!strategies.length && value !== usual) throw new Error(`${name} doesn't run in a browser: leave it at ${usual}.`);
  if (choices && !Array.isArray(value) && !choices.includes(value)) throw new Error(`${name} is ${value}, but must be one of ${choices.join(', ')}.`);
  if (minimum === undefined) return value;
  const fits = typeof value === 'number' && value >= minimum && value <= maximum && !(integer && !Number.isInteger(value));
  if (!fits) throw new Error(`${name} is ${value ?? 'empty'}, but must be ${integer ? 'a whole number' : 'a number'} between ${minimum} and ${maximum}.`);
  return value;
}

/**
 * The named filters are permuted among their places; the others stay where they are.
 * @param {Parameter[]} parameters
 * @param {string[]} names
 */
function ordered(parameters, names) {
  const following = names.values();
  const { choices } = parameters.find(({ name }) => name === 'order');
  return choices.map((name) => (names.includes(name) ? following.next().value : name));
}

/** The strategy that the settings amount to: at temperature 0, nothing is drawn. @param {Settings} settings */
export function actsAs({ strategy, temperature }) {
  const cold = { sample: 'greedy', beam_sample: 'beam' };
  return /** @type {'greedy' | 'sample' | 'beam' | 'beam_sample'} */ (temperature < COLDEST ? cold[strategy] ?? strategy : strategy);
}

/** Whether tokens are drawn, so that the seed matters. @param {Settings} settings */
export const isDrawn = (settings) => ['sample', 'beam_sample'].includes(actsAs(settings));

/** Whether several texts are followed at once. @param {Settings} settings */
export const isSearch = ({ strategy }) => strategy.startsWith('beam');
