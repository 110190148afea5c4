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

/** Whether this browser saves what the tabs show, as long as the visitor has not turned that off (ui/history/). */
export const isSaving = () => remembered('history', 'kept') === 'kept';

/** @param {boolean} saves from now on */
export const setSaving = (saves) => remember('history', saves ? 'kept' : 'nothing');

/** What this tab of the browser keeps over a reload; "" for nothing. @param {string} key */
export function keptOverReload(key) {
  try {
    return sessionStorage.getItem('attend-' + key) ?? '';
  } catch {
    return ''; // forbidden, as in a frame
  }
}

/** @param {string} key @param {string} value "" for nothing */
export function keepOverReload(key, value) {
  try {
    if (value) sessionStorage.setItem('attend-' + key, value);
    else sessionStorage.removeItem('attend-' + key);
  } catch {
    // then it is gone
  }
}
