/**
 * "You are here": the parts of the map that a chapter explains, on a small form of it that reads from left to right.
 */

/** @import { MapPart, MapSide } from './drawing.js' */

import { make } from '../../kit/js/dom.js';
import { plainButton } from '../lesson.js';

/**
 * @param {MapSide[]} form
 * @param {{kinds: string[], words: string}} here `words`: what they are together, if they are many
 * @param {(part: string) => void} open opens the map at a part
 */
export function placeOnMap(form, { kinds, words }, open) {
  const parts = form.flatMap(({ groups }) => groups.flatMap(({ rows }) => rows.flat())).filter(({ kind }) => kinds.includes(kind));
  const names = new Set(parts.map(({ title }) => title)); // both sides have some of them
  const node = make('details', { class: 'at-place' },
    make('summary', {}, make('strong', { text: 'You are here' }), `: ${words || [...names].join(' · ').toLowerCase()}`),
    make('div', { class: 'at-lesson-row' },
      make('div', { class: 'at-place-strip', 'aria-hidden': 'true' }, ...form.map((side) => sideStrip(side, kinds, open))),
      plainButton('Open the map', () => open(parts[0].key))));
  node.open = matchMedia('(min-width: 600px)').matches; // on a phone it is one line
  return node;
}

/** @param {MapSide} side @param {string[]} kinds @param {(part: string) => void} open */
function sideStrip({ title, groups }, kinds, open) {
  const box = (/** @type {MapPart} */ { key, kind, title: name }) =>
    make('i', { title: name, 'data-here': kinds.includes(kind), onclick: () => open(key) });
  return make('div', { class: 'at-place-strip-side' }, make('small', { text: title }), ...groups.map(({ rows, repeated, title: name }) =>
    make('span', { class: 'at-place-strip-group', 'data-layer': repeated, title: name || null },
      ...rows.map((row) => make('span', {}, ...row.map(box))))));
}
