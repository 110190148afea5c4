/**
 * One part of the map: what it does, its shape and parameters, what it computes as heat maps, and the line of code.
 */

import { make, makeButton } from '../../kit/js/dom.js';
import { tokenChip } from '../../kit/js/text.js';
import { CHAPTERS } from '../course.js';
import { heatMap } from './heat_map.js';

/** @param {HTMLElement} root which it fills @param {Record<string, any>} part @param {(chapter: string) => void} openChapter */
export function partPanel(root, part, openChapter) {
  const heats = part.arrays.map(heatMap);
  root.replaceChildren(
    make('h3', { text: part.title }), make('p', { class: 'at-quiet at-model-map-place', text: part.place }),
    make('p', { class: 'at-lesson-text', text: part.does }),
    make('p', { class: 'at-stack at-gap-2xs at-md' }, part.shape ? make('span', { text: part.shape }) : '', make('span', { text: part.parameters })),
    make('p', { class: 'at-row at-wrap at-gap-sm' }, ...part.chapters.map((key) => makeButton(`Chapter: ${CHAPTERS[key].title}`, () => openChapter(key)))),
    ...(part.tokens.length ? [make('ol', { class: 'at-row at-wrap at-gap-sm at-model-map-tokens' }, ...part.tokens.map(([label, id]) => make('li', {}, tokenChip(label, true), make('small', { text: id }))))] : []),
    ...heats.map(({ node }) => node), ...(part.code ? [code(part.code)] : []));
  heats.forEach(({ draw }) => draw());
}

/** @param {Record<string, any>} part */
function code({ path, function: name, number, line, source, at, isOwn }) {
  return make('div', { class: 'at-model-map-code' },
    make('p', { class: 'at-quiet' }, isOwn ? 'The line that computes it: ' : 'The line that computes it in our own transformer: ', make('code', { text: path }), `, line ${number}, in `, make('code', { text: name })),
    make('pre', { class: 'at-code-block', tabindex: 0 }, make('code', { text: line })),
    make('details', { class: 'at-weights' }, make('summary', { text: 'The whole function' }),
      make('pre', { class: 'at-code-block', tabindex: 0 }, ...source.map((text, index) => make(index === at ? 'mark' : 'span', { text: `${text}\n` })))));
}
