/**
 * The links that open the glossary, and the mark of texts in which terms are still to be found.
 */

import { withParts } from '../kit/address/address.js';
import { make } from '../kit/js/dom.js';

export const ALL = 'all'; // in place of a term: the whole glossary
export const SECTION = 'section, details, .at-view, .attend-settings'; // in which a term is marked once
export const UNMARKED = 'data-unmarked'; // a text whose terms are still to be found

/**
 * A word that opens an entry of the glossary.
 * @param {import('./terms.js').Term | typeof ALL} key of the entry, or `ALL`
 * @param {string} text
 */
export const termLink = (key, text) => make('a', {
  class: 'at-term', href: `?glossary=${key}`, 'data-term': key, 'aria-haspopup': 'dialog', text,
});

/**
 * Whether a click asks for a new browser tab, to which the link then passes this page's model and settings.
 * @param {MouseEvent} event @param {HTMLAnchorElement} link @param {Record<string, string>} parts of the address
 */
export function opensElsewhere(event, link, parts) {
  const isMeant = event.ctrlKey || event.metaKey || event.shiftKey;
  if (isMeant) link.href = withParts(location.href, parts);
  return isMeant;
}
