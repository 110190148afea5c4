/**
 * Makes the terms in the page's own texts open the glossary.
 *
 * A model's text is never searched. Other texts are searched once they are visible, and the search is loaded with the first.
 */

import { SECTION, UNMARKED } from './term_link.js';

const fetchHighlight = () => import('./highlight.js');
/** @type {IntersectionObserver | undefined} */
let observer;
/** @type {Element[] | null} the texts that came before the page was ready; null afterwards */
let early = [];

/**
 * Let visitors look up the terms in one of the page's own texts, once it is in sight.
 * @template {HTMLElement} Kind
 * @param {Kind} node whose text does not change
 */
export function explained(node) {
  node.setAttribute(UNMARKED, '');
  if (early) early.push(node);
  else observer.observe(node);
  return node;
}

/** Begin to look for terms, now that the page is ready and nothing is delayed by it. */
export function beginMarking() {
  if (!early) return;
  observer = new IntersectionObserver(seen, { rootMargin: '200px' });
  early.forEach((node) => observer.observe(node));
  early = null;
}

/** @param {IntersectionObserverEntry[]} entries */
async function seen(entries) {
  const inSight = entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target);
  if (!inSight.length) return;
  const { highlight } = await fetchHighlight();
  const sections = inSight.map((node) => node.closest(SECTION)).filter(Boolean); // none: it is gone by now
  for (const section of new Set(sections)) {
    for (const node of highlight(section)) observer.unobserve(node);
  }
}
