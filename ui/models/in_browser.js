/**
 * The link to the page without a server, where the model runs in the visitor's browser: it opens with this page's settings, its
 * tab and the text in its box.
 */

import { MAX_PROMPT, withParts } from '../kit/address/address.js';
import { make } from '../kit/js/dom.js';
import { runsInBrowser, shownTab } from '../kit/js/signals.js';

/** The boxes of the tabs that are there as well. @type {Record<string, string>} */
const BOXES = { Chat: '#attend-message textarea', Write: '#attend-text textarea', Translate: '#attend-given textarea', Compare: '.at-ask-text' };

/**
 * The address of that page for what is on this one.
 * @param {string} base of both @param {string} address of this page @param {string} tab @param {string} text in its box
 */
export function addressInBrowser(base, address, tab, text) {
  const there = new URL('in-browser/', base);
  there.search = new URL(address).search;
  there.hash = tab in BOXES ? tab.toLowerCase() : '';
  const prompt = text.trim() && text.length <= MAX_PROMPT ? text : null;
  return withParts(there.href, { tab: null, model: null, weights: null, chapter: null, numbers: null, class: null, prompt });
}

/** It is hidden where the server doesn't offer that page. */
export function makeInBrowserLink() {
  const isOffered = Boolean(document.querySelector('link[rel="alternate"][href="in-browser/"]'));
  const link = make('a', { class: 'at-sm at-in-browser', href: 'in-browser/', target: '_blank', hidden: !isOffered, text: 'Run in my browser',
    title: 'Opens this model in a page that computes in your browser: what you type there goes nowhere' });
  for (const event of ['pointerdown', 'focus']) link.addEventListener(event, () => { link.href = here(); }); // before it is followed or copied

  function here() {
    const tab = shownTab.latest ?? '', box = /** @type {HTMLTextAreaElement | null} */ (document.querySelector(BOXES[tab] ?? '#none'));
    return addressInBrowser(document.baseURI, location.href, tab, box?.value ?? '');
  }

  /** @param {boolean} isPossible whether the model in use runs there */
  function offer(isPossible) {
    link.hidden = !isOffered || !isPossible;
    runsInBrowser.publish(!link.hidden);
  }
  return { node: link, offer };
}
