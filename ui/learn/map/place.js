/**
 * "You are here": the parts of the map that a chapter explains, on a small form of it that reads from left to right.
 */

/** @import { MapPart, MapSide } from './drawing.js' */

import { make, makeButton } from '../../kit/js/dom.js';

/**
 * @param {MapSide[]} form
 * @param {{kinds: string[], words: string}} here `words`: what they are together, if they are many
 * @param {(part: string) => void} open opens the map at a part
 */
export function placeOnMap(form, { kinds, words }, open) {
  const parts = form.flatMap(({ groups }) => groups.flatMap(({ rows }) => rows.flat())).filter(({ kind }) => kinds.includes(kind));
  const node = make('details', { class: 'at-place' },
    make('summary', {}, make('strong', { text: 'You are here' }), `: ${words || namesOf(parts)}`),
    make('div', { class: 'at-lesson-row' },
      make('div', { class: 'at-stack at-gap-xs at-place-strip', 'aria-hidden': 'true' }, ...form.map((side) => sideStrip(side, kinds, open))),
      makeButton('Open the map', () => open(parts[0].key))));
  node.open = matchMedia('(min-width: 600px)').matches; // on a phone it is one line
  return node;
}

/** The name of each part once: both sides share some, and some titles list three. @param {{title: string}[]} parts */
export const namesOf = (parts) => [...new Set(parts.flatMap(({ title }) => title.toLowerCase().split(', ')))].join(' · ');

/** @param {MapSide} side @param {string[]} kinds @param {(part: string) => void} open */
function sideStrip({ title, groups }, kinds, open) {
  const box = (/** @type {MapPart} */ { key, kind, title: name }) =>
    make('i', { title: name, 'data-here': kinds.includes(kind), onclick: () => open(key) });
  return make('div', { class: 'at-row at-gap-2xs' }, make('small', { class: 'at-quiet', text: title }), ...groups.map(({ rows, repeated, title: name }) =>
    make('span', { class: 'at-row at-gap-2xs at-place-strip-group', 'data-layer': repeated, title: name || null },
      ...rows.map((row) => make('span', { class: 'at-stack' }, ...row.map(box))))));
}
