/**
 * A chapter opened from elsewhere on the page.
 */

import { moveTo } from '../kit/address/address.js';

/** Whether the course can be shown now: an encoder takes the place of the tabs. */
export const hasCourse = () => !document.body.hasAttribute('data-encoder')
  && Boolean(document.querySelector('#attend-tabs [data-name="Learn"]'));

/** @param {string} key */
export function openChapter(key) {
  moveTo({ tab: 'Learn', chapter: key, numbers: null });
  /** @type {HTMLElement} */ (document.querySelector('.at-lesson-body section:not([hidden]) h2'))?.focus();
}
