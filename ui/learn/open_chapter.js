/**
 * A chapter opened from elsewhere on the page.
 */

import { moveTo } from '../kit/address/address.js';

/** Whether this page has the course: that of an encoder has no tabs. */
export const hasCourse = () => Boolean(document.querySelector('#attend-tabs [data-name="Learn"]'));

/** @param {string} key */
export function openChapter(key) {
  moveTo({ tab: 'Learn', chapter: key, numbers: null });
  /** @type {HTMLElement} */ (document.querySelector('.at-lesson-body section:not([hidden]) h2'))?.focus();
}
