/**
 * Numbers and texts as the chapters send and write them (ui/learn/wording.py), and checks of what a reader enters
 * (ui/learn/inputs.py) with the same sentences.
 */

const MAX_NUMBER = 1e6; // of a matrix's
const ZEROS = 25; // digits behind which a number counts as exactly between two

/** Halves are rounded to even, as in Python. @param {number} value @param {number} digits behind the point */
function toFixed(value, digits) {
  const text = Math.abs(value).toFixed(digits + ZEROS), kept = text.slice(0, -ZEROS).replace(/\.$/, '');
  const isHalf = text.slice(-ZEROS) === `5${'0'.repeat(ZEROS - 1)}`, isEven = '02468'.includes(kept.at(-1));
  return `${value < 0 ? '-' : ''}${isHalf && isEven ? kept : Math.abs(value).toFixed(digits)}`;
}

/** @param {number} value @param {number} [digits] that are significant */
export function significant(value, digits = 4) {
  if (!Number.isFinite(value)) return null;
  const exponent = Number(value.toExponential(digits - 1).split('e')[1]), behind = digits - 1 - exponent;
  const rounded = value && behind >= 0 && behind + ZEROS <= 100 ? Number(toFixed(value, behind)) : Number(value.toPrecision(digits));
  return value < 1 && rounded >= 1 ? 0.999999 : rounded;
}

/** @param {number[][]} rows @param {number} [digits] */
export const roundedRows = (rows, digits = 4) => rows.map((row) => row.map((value) => significant(value, digits)));

/** With a real minus sign. @param {number} value @param {number} [digits] */
export function decimals(value, digits = 2) {
  const text = toFixed(value, digits);
  return text.replace('-', Number(text) === 0 ? '' : '−');
}

/** As short as it can be written: 0.8, 14, 0.0025. @param {number} value @param {number} [digits] */
export function short(value, digits = 4) {
  const number = Number(significant(Math.abs(value), digits)) * Math.sign(value);
  const text = Math.abs(value) >= 1e-6 ? number.toFixed(12).replace(/\.?0+$/, '')
    : number.toString().replace(/e-(\d)$/, 'e-0$1');
  return text.replaceAll('-', '−');
}

/** A dot product written out. @param {number[]} left @param {number[]} right */
export const dotTerms = (left, right) => left.map((one, index) => `${short(one)} · ${short(right[index])}`).join(' + ');

/** A vector written out: (5, 7). @param {number[]} values @param {number} [digits] */
export const vector = (values, digits) => `(${values.map((value) => (digits === undefined ? short(value) : decimals(value, digits))).join(', ')})`;

/** @param {number[]} one @param {number[]} other */
export const dot = (one, other) => one.reduce((sum, value, index) => sum + value * other[index], 0);

/** @param {number[][]} rows */
export const transposed = (rows) => rows[0].map((_, column) => rows.map((row) => row[column]));

/** @param {number[][]} left @param {number[][]} right */
export const product = (left, right) => left.map((row) => transposed(right).map((column) => dot(row, column)));

/** @param {number[]} scores */
export function softmax(scores) {
  const largest = Math.max(...scores), powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((all, one) => all + one, 0);
  return powers.map((power) => power / sum);
}

/** The words that stand beside a table's rows or columns. @param {string} line @param {number} count */
export function labels(line, count) {
  const words = split(line);
  if (words.length === count) return words;
  throw new Error(`The text has ${words.length === 1 ? '1 word' : `${words.length} words`}, but this table needs ${count}: change it.`);
}

/** @param {string} text */
export const split = (text) => text.split(/\p{White_Space}+/u).filter(Boolean);

/** What a sentence calls an input. @param {string} name */
function subject(name) {
  const words = name.replaceAll('_', ' ');
  return words[0].toUpperCase() + words.slice(1);
}

/** @param {any} value */
const quoted = (value) => (typeof value === 'string' ? `'${value}'` : String(value));

/** @param {number} number */
const grouped = (number) => number.toLocaleString('en-US');

/** The inputs that are tables, which a link may bring in any form. @param {string[]} names @param {Record<string, any>} inputs @param {{inputs: Record<string, any>}} own the example */
export function checkMatrices(names, inputs, own) {
  for (const name of names) checkMatrix(name, inputs[name], own.inputs[name]);
}

/** @param {string} name of the input @param {any} rows @param {number[][]} own those of the example, of the same form */
function checkMatrix(name, rows, own) {
  const hasLength = (/** @type {any} */ one, /** @type {any[]} */ other) => Array.isArray(one) && one.length === other.length;
  if (!hasLength(rows, own) || !rows.every((row) => hasLength(row, own[0]))) {
    throw new Error(`${subject(name)} must have ${own.length} ${own.length === 1 ? 'row' : 'rows'} of ${own[0].length} numbers: reload the page to start again.`);
  }
  for (const cell of rows.flat()) {
    if (typeof cell === 'number' && Math.abs(cell) <= MAX_NUMBER) continue;
    const content = cell === null ? 'an empty cell' : quoted(cell);
    throw new Error(`${subject(name)} can't contain ${content}: each must be a number from −1,000,000 to 1,000,000.`);
  }
}

/** @param {string} name of the input @param {any} value @param {number} least @param {number} most @param {boolean} [isWhole] */
export function checkNumber(name, value, least, most, isWhole = true) {
  if (typeof value === 'number' && value >= least && value <= most && (!isWhole || Number.isInteger(value))) return;
  throw new Error(`${subject(name)} is ${quoted(value)}, but must be a ${isWhole ? 'whole ' : ''}number from ${grouped(least)} to ${grouped(most)}.`);
}

/** @param {string} name of the input @param {any} value @param {string[]} possible */
export function checkChoice(name, value, possible) {
  if (!possible.includes(value)) throw new Error(`${subject(name)} is ${quoted(value)}, but must be one of ${possible.join(', ')}.`);
}

/** @param {any} text @param {string} called in the sentence @param {number} most characters */
export function checkText(text, called, most) {
  if (typeof text !== 'string') throw new Error(`${called} is ${quoted(text)}, but must be text.`);
  const count = [...text].length;
  if (!text.trim()) throw new Error(`${called} is empty: type something.`);
  if (count > most) throw new Error(`${called} has ${grouped(count)} characters, but the limit is ${grouped(most)}: shorten it.`);
}
