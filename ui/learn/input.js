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
 * What stands in a link, with only what differs from the chapter's own example.
 * @param {Record<string, any>} input @param {Record<string, any>} first
 * @returns {string | null} null where it is the example itself
 */
export function inputText(input, first) {
  const changed = Object.entries(input).filter(([name, value]) =>
    value !== undefined && JSON.stringify(value) !== JSON.stringify(first[name])); // one that was reset is undefined
  return changed.length ? JSON.stringify(Object.fromEntries(changed)) : null;
}
