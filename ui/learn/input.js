/**
 * A chapter's input in a link: what a teacher filled in, as JSON. The server checks every value of it.
 */

export const MAX_INPUT = 1500; // characters, since servers and mail programs cut longer links

/** @param {string | null} text @returns {object} empty unless it holds the input of a chapter */
export function parsedInput(text) {
  if (!text || text.length > MAX_INPUT) return {};
  try {
    const input = JSON.parse(text);
    return input && typeof input === 'object' && !Array.isArray(input) ? input : {};
  } catch {
    return {};
  }
}

/** @param {string} text */
export const isInput = (text) => Object.keys(parsedInput(text)).length > 0;

/**
 * Those values of a link that can be shown before the server has checked them: in place of a list or table of the example, one
 * of the same form. Names that the example lacks depend on the models, and stay.
 * @param {Record<string, any>} input @param {Record<string, any>} first the chapter's own example
 */
export const fitting = (input, first) => Object.fromEntries(Object.entries(input).filter(([name, value]) =>
  !Object.hasOwn(first, name) || isLike(value, first[name])));

/** @param {any} value @param {any} other @returns {boolean} */
function isLike(value, other) {
  if (!Array.isArray(other)) return typeof value === typeof other && value !== null;
  if (!Array.isArray(value) || (other.length && !value.length)) return false;
  const isTable = Array.isArray(other[0]);
  if (isTable && value.length !== other.length) return false;
  return value.every((one) => !other.length || (isLike(one, other[0]) && (!isTable || one.length === other[0].length)));
}

/**
 * What stands in a link, with only what differs from the chapter's own example.
 * @param {Record<string, any>} input @param {Record<string, any>} first
 * @returns {string | null} null where it is the example itself
 */
export function inputText(input, first) {
  const changed = Object.entries(input).filter(([name, value]) =>
    value !== undefined && JSON.stringify(value) !== JSON.stringify(first[name])); // one that was reset is undefined
  return changed.length ? JSON.stringify(Object.fromEntries(changed)) : null;
}
