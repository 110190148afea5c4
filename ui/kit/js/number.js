/**
 * Parses numbers as typed.
 */

/**
 * @param {string} text with minus signs of any kind, a decimal point or a comma, maybe an exponent
 * @returns {number | null} null for what is no number; infinite where it is too large
 */
export function parseNumber(text) {
  const plain = text.trim().replaceAll('−', '-').replace(',', '.');
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : null;
}

/**
 * Whether a field takes it.
 * @param {unknown} value
 * @param {{minimum: number, maximum: number, integer: boolean}} range both ends included
 */
export const isWithin = (value, { minimum, maximum, integer }) =>
  typeof value === 'number' && value >= minimum && value <= maximum && (!integer || Number.isInteger(value));
