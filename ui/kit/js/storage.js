/**
 * What the browser remembers for this page: choices for all visits, and what its tab keeps over a reload.
 */

/**
 * The result of using the storage; the fallback if there is none, or if the browser forbids storage, as in a frame.
 * @template Result
 * @param {() => Result} use
 * @param {Result} [fallback]
 */
function attempt(use, fallback) {
  try {
    return use() ?? fallback;
  } catch {
    return fallback;
  }
}

/** @param {string} key @param {string} fallback */
export const remembered = (key, fallback) => attempt(() => localStorage.getItem(`attend-${key}`), fallback);

/** @param {string} key @param {string} value */
export const remember = (key, value) => attempt(() => localStorage.setItem(`attend-${key}`, value));

/** Whether this browser saves what the tabs show, as long as the visitor has not turned that off (ui/history/). */
export const isSaving = () => remembered('history', 'kept') === 'kept';

/** @param {boolean} saves from now on */
export const setSaving = (saves) => remember('history', saves ? 'kept' : 'nothing');

/** What this tab of the browser keeps over a reload; "" for nothing. @param {string} key */
export const keptOverReload = (key) => attempt(() => sessionStorage.getItem(`attend-${key}`), '');

/**
 * The same for an object that was kept as JSON; an empty one where another page of this address has kept anything else.
 * @param {string} key
 * @returns {Record<string, any>}
 */
export function keptObject(key) {
  try {
    const kept = JSON.parse(keptOverReload(key) || '{}');
    return Object.getPrototypeOf(kept) === Object.prototype ? kept : {};
  } catch {
    return {};
  }
}

/** @param {string} key @param {string} value "" for nothing */
export const keepOverReload = (key, value) =>
  attempt(() => (value ? sessionStorage.setItem(`attend-${key}`, value) : sessionStorage.removeItem(`attend-${key}`)));

/** How the visitor came: "navigate" by a link, "reload" or "back_forward". */
const navigationType = () =>
  /** @type {PerformanceNavigationTiming | undefined} */ (performance.getEntriesByType('navigation')[0])?.type ?? 'navigate';

export const isReload = () => navigationType() === 'reload';

/** Whether the visitor came by a reload, or by Back or Forward, and not by a link. */
export const isReturn = () => navigationType() !== 'navigate';
