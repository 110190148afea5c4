/**
 * Opens the glossary: at a click on a term anywhere on the page, or by the address.
 */

import { partOf, whenMoved } from '../kit/address/address.js';
import { around } from '../kit/js/dom.js';
import { beginMarking } from './marking.js';
import { ALL, opensElsewhere } from './term_link.js';

const fetchCard = () => import('./term_card.js');
const fetchList = () => import('./term_list.js');

/** What the address may name. @param {string} key */
export const isTermName = (key) => /^[a-z0-9-]{1,40}$/.test(key);

/**
 * @param {import('./entry.js').Course} course
 * @param {string | null} first a term that the address names
 */
export function offerGlossary(course, first) {
  const show = async (/** @type {string} */ key) => (await fetchList()).openList(key, course);

  document.addEventListener('click', async (event) => {
    const link = /** @type {HTMLAnchorElement | null} */ (around(event, 'a[data-term]'));
    if (!link || opensElsewhere(event, link, { glossary: link.dataset.term })) return;
    event.preventDefault();
    const term = /** @type {import('./terms.js').Term | typeof ALL} */ (link.dataset.term);
    const { openCard, closeCard } = await fetchCard();
    if (term !== ALL && !link.closest('dialog')) return openCard(link, term, course);
    closeCard();
    show(term);
  });
  whenMoved(async () => {
    const key = partOf('glossary');
    if (key && isTermName(key)) show(key);
    else if (document.querySelector('.at-glossary[open]')) (await fetchList()).closeList();
  });
  beginMarking();
  if (first) show(first);
}
