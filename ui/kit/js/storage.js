/**
 * Choices that the browser remembers for this page.
 */

/** @param {string} key @param {string} fallback */
export function remembered(key, fallback) {
  try {
    return localStorage.getItem('attend-' + key) ?? fallback;
  } catch {
    return fallback; // storage may be forbidden, as in a frame
  }
}

/** @param {string} key @param {string} value */
export function remember(key, value) {
  try {
    localStorage.setItem('attend-' + key, value);
  } catch {
    // then it holds until the page is left
  }
}
