/**
 * The search box of the settings: which settings match, and a note if none does.
 */

import { make } from '../kit/js/dom.js';

/** @param {string} text @returns {string[]} */
const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/**
 * Whether a setting matches a query. Its name or label may contain the query in any spelling ("top k", "topk", "top_k"), or each
 * word of the query may begin a word of its label, help or section; a word of up to two letters must be a whole word there.
 * @param {{name: string, label: string, help: string, section: string}} setting
 * @param {string} query
 */
export function matches({ name, label, help, section }, query) {
  const sought = wordsOf(query);
  const own = wordsOf(`${name} ${label} ${help} ${section}`);
  return [name, label].some((each) => wordsOf(each).join('').includes(sought.join('')))
    || sought.every((word) => own.some((each) => (word.length > 2 ? each.startsWith(word) : each === word)));
}

/** @param {() => void} onChange */
export function makeSearch(onChange) {
  const box = make('input', {
    type: 'search', class: 'at-text-field', placeholder: 'Search settings', 'aria-label': 'Search the settings', oninput: onChange,
  });
  const note = make('p', { class: 'at-help', role: 'status' });
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !box.value) return;
    event.preventDefault(); // else it would stop the answer or close the settings as well
    box.value = '';
    onChange();
  });
  return {
    node: make('div', { class: 'at-search', role: 'search' }, box, note),
    get query() { return box.value.trim(); },
    /** @param {number} count how many settings are in sight */
    say(count) {
      const query = box.value.trim();
      note.textContent = query && !count ? `No setting matches “${query}”.` : '';
    },
  };
}
