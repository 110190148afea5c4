/**
 * The whole glossary, A to Z, in a dialog with a search.
 */

import { writeParts } from '../kit/address/address.js';
import { make } from '../kit/js/dom.js';
import { makeDialog } from '../kit/overlay/dialog.js';
import { ENTRIES } from './entries.js';
import { entryBody, isExplained, meaning } from './entry.js';
import { ALL, termLink } from './term_link.js';
import { TERMS } from './terms.js';

const search = make('input', {
  type: 'search', class: 'at-text-field', placeholder: 'Search', 'aria-label': 'Search the glossary', oninput: filter,
});
const count = make('p', { class: 'at-quiet', role: 'status' });
const letters = make('nav', { class: 'at-glossary-letters', 'aria-label': 'Letters' });
const list = make('div', { class: 'at-grow at-scroll at-glossary-list' });
const dialog = makeDialog('attend-glossary', 'Glossary', make('div', { class: 'at-row at-wrap at-gap-xs at-glossary-top' }, search, count, letters), list);
dialog.classList.add('at-view', 'at-glossary');
dialog.addEventListener('close', () => writeParts({ glossary: null }));

/**
 * @param {string} key of a term, or `ALL`
 * @param {import('./entry.js').Course} course
 */
export function openList(key, course) {
  if (!dialog.open) {
    fill(course);
    document.body.append(dialog);
    dialog.showModal();
  }
  writeParts({ glossary: key });
  search.value = key === ALL || isExplained(key) ? '' : key;
  filter();
  const entry = list.querySelector(`#term-${key}`);
  if (entry) {
    entry.scrollIntoView({ block: 'start' });
    entry.querySelector('a').focus({ preventScroll: true });
  } else {
    list.scrollTop = 0;
    search.focus();
  }
}

export const closeList = () => dialog.close();

/** @param {import('./entry.js').Course} course */
function fill(course) {
  const open = (/** @type {string} */ chapter) => {
    writeParts({ glossary: null }); // before the address moves on: the dialog's own event comes later
    dialog.close();
    course.open(chapter);
  };
  const keys = Object.keys(ENTRIES).filter(isExplained).toSorted((one, other) => ENTRIES[one].name.localeCompare(ENTRIES[other].name, 'en'));
  /** @type {Map<string, typeof keys>} */
  const groups = new Map();
  for (const key of keys) {
    const letter = ENTRIES[key].name[0];
    groups.set(letter, [...(groups.get(letter) ?? []), key]);
  }
  list.replaceChildren(...[...groups].map(([letter, group]) => make('section', { 'aria-label': letter },
    make('h3', { class: 'at-quiet', text: letter, tabindex: -1 }), ...group.map((key) => entryView(key, { ...course, open })))));
  letters.replaceChildren(...[...groups.keys()].map((letter, index) => make('button', { type: 'button', text: letter, onclick: () => {
    const heading = list.children[index].querySelector('h3');
    heading.scrollIntoView({ block: 'start' });
    heading.focus({ preventScroll: true });
  } })));
}

/** @param {import('./terms.js').Term} key @param {import('./entry.js').Course} course */
function entryView(key, course) {
  const sought = [ENTRIES[key].name, ...TERMS[key], ...meaning(ENTRIES[key]).map(({ text }) => text)].join(' ').toLowerCase();
  return make('article', { id: `term-${key}`, 'data-sought': sought }, make('h4', {}, termLink(key, ENTRIES[key].name)),
    ...entryBody(key, course));
}

/** Show the entries that have what is searched for. */
function filter() {
  const query = search.value.trim().toLowerCase();
  const entries = [...list.querySelectorAll('article')];
  for (const entry of entries) entry.hidden = !entry.dataset.sought.includes(query);
  for (const section of list.children) section.toggleAttribute('hidden', !section.querySelector('article:not([hidden])'));
  letters.hidden = Boolean(query);
  const visible = entries.filter(({ hidden }) => !hidden).length;
  count.textContent = visible ? `${visible} ${visible === 1 ? 'term' : 'terms'}` : 'No term matches.';
}
