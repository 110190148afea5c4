/**
 * The settings of a run under the names of Python, each checked: ranges and choices are those in `model.json`, lists as in
 * `decoding/parameters/list_parameter.py`.
 */

/**
 * A setting; `strategies` are those of the browser that use it.
 * @typedef {{name: string, default: any, strategies: string[], choices?: string[], minimum?: number, maximum?: number, integer?: boolean}} Parameter
 */
/** The value of every parameter, by its name. @typedef {Record<string, any>} Settings */

export const COLDEST = 1e-4; // a lower temperature counts as 0
const MAX_ENTRIES = 100, MAX_CHARACTERS = 200; // of a list, and of a text in it
const SEEDS = 2 ** 32; // how many seeds there are
const DRAWN_SEEDS = 1_000_000; // random seeds are below this, so that they are easy to read and to type

/**
 * All settings, with the defaults of those that are not given, and a definite seed where tokens are drawn.
 * @param {Parameter[]} parameters
 * @param {Settings} overrides
 * @returns {Settings}
 */
export function completeSettings(parameters, overrides) {
  const unknown = Object.keys(overrides).find((name) => !parameters.some((parameter) => parameter.name === name));
  if (unknown) throw new Error(`There is no setting ${unknown}.`);
  const values = parameters.map((parameter) => [parameter.name, checked(parameter, parameter.name in overrides ? overrides[parameter.name] : parameter.default)]);
  const settings = Object.fromEntries(values), problem = misfit(settings);
  if (problem) throw new Error(problem);
  const seed = settings.seed < 0 && isDrawn(settings) ? drawSeed() : settings.seed;
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

/** @param {any} entry */
const isText = (entry) => typeof entry === 'string' && entry !== '' && [...entry].length <= MAX_CHARACTERS && entry.isWellFormed();

/** What the entries of a list must be, and whether one is. @type {Record<string, [words: string, isSo: (entry: any) => boolean]>} */
const ENTRIES = {
  stop_texts: [`a text of 1 to ${MAX_CHARACTERS} characters`, isText],
  banned_words: [`a text of 1 to ${MAX_CHARACTERS} characters, not all blank`, (entry) => isText(entry) && entry.trim() !== ''],
  logit_bias: ['a token id and its bias between -100 and 100', ([id, bias]) => /^(0|[1-9]\d*)$/.test(id) && typeof bias === 'number' && Math.abs(bias) <= 100],
};

/** @param {string} name @param {any} value a list, or an object with a value for each entry */
function checkEntries(name, value) {
  const [words, isSo] = ENTRIES[name], entries = Array.isArray(value) ? value : Object.entries(value);
  if (entries.length > MAX_ENTRIES) throw new Error(`${name} has ${entries.length} entries: use ${MAX_ENTRIES} or fewer.`);
  const wrong = entries.findIndex((entry) => !isSo(entry)), entry = entries[wrong];
  if (wrong >= 0) throw new Error(`${name} contains ${Array.isArray(entry) ? entry.join(':') : JSON.stringify(entry)}, but each entry must be ${words}.`);
}

/** @param {Parameter} parameter @param {any} value */
function checked({ name, default: usual, strategies, choices, minimum, maximum, integer }, value) {
  if (name in ENTRIES) checkEntries(name, value);
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
  const wrong = names.find((name, place) => !choices.includes(name) || names.indexOf(name) < place);
  if (choices.includes(wrong)) throw new Error(`order lists ${wrong} twice: list each filter at most once.`);
  if (wrong !== undefined) throw new Error(`order has no filter ${wrong}: choose from ${choices.join(', ')}.`);
  return choices.map((name) => (names.includes(name) ? following.next().value : name));
}

/** A random seed. */
export const drawSeed = () => Math.floor(DRAWN_SEEDS * Math.random());

/** The seed of a card with random numbers of its own: they count up from the first, and wrap around. @param {number} first @param {number} index */
export const seedOf = (first, index) => (index ? (first + index) % SEEDS : first);

/** The strategy that the settings amount to: at temperature 0, nothing is drawn. @param {Settings} settings */
export function actsAs({ strategy, temperature }) {
  const cold = { sample: 'greedy', beam_sample: 'beam' };
  return /** @type {'greedy' | 'sample' | 'beam' | 'beam_sample'} */ (temperature < COLDEST ? cold[strategy] ?? strategy : strategy);
}

/** Whether tokens are drawn, so that the seed matters. @param {Settings} settings */
export const isDrawn = (settings) => ['sample', 'beam_sample'].includes(actsAs(settings));

/** Whether several texts are followed at once. @param {Settings} settings */
export const isSearch = ({ strategy }) => strategy.startsWith('beam');
