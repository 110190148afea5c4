/**
 * The card beside a clicked term. There is only one: clicking a term in its text replaces it.
 */

import { make } from '../kit/js/dom.js';
import { place } from '../kit/overlay/place.js';
import { ENTRIES } from './entries.js';
import { entryBody } from './entry.js';
import { ALL, termLink } from './term_link.js';

const title = make('h2', { id: 'at-term-title' });
const body = make('div', { id: 'at-term-body' });
const card = make('div', {
  class: 'at-term-card at-panel at-scroll at-bubble-card at-view', popover: 'auto', role: 'dialog', tabindex: -1, 'aria-labelledby': title.id, 'aria-describedby': body.id,
}, title, body, make('p', {}, termLink(ALL, 'All terms')),
make('button', { type: 'button', class: 'at-close', 'aria-label': 'Close', text: '×', onclick: () => closeCard() }));
/** @type {HTMLElement} the word that it stands beside */
let beside;
let listeners = new AbortController();

card.addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget instanceof Node && !card.contains(relatedTarget)) closeCard(); // Tab led out of it
});
card.addEventListener('toggle', () => {
  if (!card.matches(':popover-open')) listeners.abort();
});

/**
 * @param {HTMLElement} link that was clicked
 * @param {import('./terms.js').Term} key
 * @param {import('./entry.js').Course} course
 */
export function openCard(link, key, course) {
  const isInside = card.contains(link);
  title.textContent = ENTRIES[key].name;
  const open = (/** @type {string} */ chapter) => {
    card.hidePopover();
    course.open(chapter);
  };
  body.replaceChildren(...entryBody(key, { ...course, open }));
  if (!isInside) {
    beside = link;
    beside.focus({ preventScroll: true }); // where Escape leads back to
    document.body.append(card);
    card.showPopover();
    follow();
  }
  card.scrollTop = 0;
  stand();
  card.focus({ preventScroll: true });
}

export const closeCard = () => card.isConnected && card.hidePopover();

function follow() {
  listeners.abort();
  listeners = new AbortController();
  for (const event of ['scroll', 'resize']) {
    addEventListener(event, (moved) => moved.target === card || stand(), { capture: true, passive: true, signal: listeners.signal });
  }
}

/** Stand beside the word as long as it is there: a streaming text draws its headings again. */
function stand() {
  if (!beside.checkVisibility()) return;
  const box = beside.getBoundingClientRect();
  const view = { width: document.documentElement.clientWidth, height: window.innerHeight };
  if (box.bottom < 0 || box.top > view.height) return card.hidePopover();
  const { x, y } = place(box, { width: card.offsetWidth, height: card.offsetHeight }, view);
  card.style.transform = `translate(${x}px, ${y}px)`;
}
