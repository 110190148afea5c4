/**
 * Parses numbers as typed.
 */

/**
 * @param {string} text with minus signs of any kind, a decimal point or a comma, maybe an exponent
 * @returns {number | null} null if it is no number; infinite if it is too large
 */
export function parseNumber(text) {
  const plain = text.trim().replaceAll('−', '-').replace(',', '.');
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : null;
}

/**
 * Let number fields accept a comma as the decimal point, as in most of Europe. Chromium drops it from what is typed or pasted,
 * and would read 0,38 as 38. In a field for whole numbers a comma can only separate thousands, so it may be dropped.
 */
export function takeDecimalCommas() {
  document.addEventListener('beforeinput', (event) => {
    const field = event.target;
    if (!(field instanceof HTMLInputElement) || field.type !== 'number' || !event.data?.includes(',')) return;
    if (Number.isInteger(Number(field.step))) return;
    event.preventDefault();
    document.execCommand('insertText', false, event.data.replaceAll(',', '.')); // unlike setting the value, this keeps Undo and sends `input`
  }, true);
}

/**
 * Whether a value is a number in the range.
 * @param {unknown} value
 * @param {{minimum: number, maximum: number, integer: boolean}} range both ends included
 */
export const isWithin = (value, { minimum, maximum, integer }) =>
  typeof value === 'number' && value >= minimum && value <= maximum && (!integer || Number.isInteger(value));
