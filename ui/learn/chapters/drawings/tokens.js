/**
 * Tokens, side by side: one text as rules and as models cut it.
 *
 * @typedef {{name: string, location: string, rule: boolean, error: string, pieces: [string, number][], count: number,
 *   each: number | null, vocabulary: number, lost: string[], joined: string | null, shortened: boolean}} TokenCut
 *   `location`: of a model, the name that loads it, such as a folder’s path
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { explained } from '../../../glossary/marking.js';
import { make } from '../../../kit/js/dom.js';
import { counted, visible, visibleText } from '../../../kit/js/text.js';
import { extentBar, pieceBox, PIECES, tokenCount } from '../../drawings/pieces.js';
import { redrawn } from '../../text/slot_values.js';

/** @param {SlotWiring} wiring @returns {SlotView} */
export function cuts({ cases, controls }) {
  const note = (/** @type {string} */ name) => make('p', { class: 'at-quiet' }, ...controls.say(cases[name]));

  return redrawn(make('div', { class: 'at-cuts' }), (/** @type {{cuts: TokenCut[]}} */ result) => {
    const most = Math.max(...result.cuts.map((cut) => cut.count ?? 0));
    return result.cuts.map((cut) => tokenCut(cut, most, note));
  });
}

/** @param {TokenCut} cut @param {number} most tokens of any cut @param {(name: string) => HTMLElement} note what is said of it */
function tokenCut(cut, most, note) {
  const name = cut.rule ? cut.name[0].toUpperCase() + cut.name.slice(1) : cut.name;
  const isWords = cut.rule && cut.name === 'words';
  const head = make('h3', { text: name, title: cut.location || null });
  if (cut.error) {
    const why = make('p', { class: 'at-quiet', text: cut.error });
    return make('section', { class: 'at-cut', 'aria-label': name }, head, why);
  }
  const facts = [
    tokenCount(cut.count),
    cut.each === null ? '' : `${cut.each.toFixed(cut.each < 10 ? 2 : 0)} characters each`,
    `${counted.format(cut.vocabulary)} ${cut.vocabulary === 1 ? 'id' : 'ids'}${isWords ? ' so far' : ''}`,
  ].filter(Boolean).join(' · ');
  const pieces = cut.pieces.map(([text, id], index) => pieceBox(visible(text), {
    index, note: id, title: `token ${index + 1}: ${visibleText(text)}, id ${id}`,
  }));
  const more = cut.count - cut.pieces.length;
  return make('section', { class: 'at-cut', 'aria-label': name },
    make('div', { class: 'at-cut-head' },
      head, make('span', { class: 'at-quiet', text: facts }), extentBar(cut.count / most)),
    cut.rule ? explained(note(cut.name)) : '',
    make('div', { class: PIECES, tabindex: 0, role: 'region', 'aria-label': `Tokens of ${name}` }, ...pieces,
      more > 0 ? make('span', { class: 'at-quiet', text: `and ${counted.format(more)} more` }) : ''),
    cut.lost.length ? lostNote(cut) : note(isWords ? 'same words' : 'same'));
}

/** What the ids don't say again. @param {TokenCut} cut */
function lostNote({ lost, joined, shortened }) {
  const what = new Intl.ListFormat('en-GB').format(lost);
  return make('p', { class: 'at-quiet' }, `Lost: ${what}. Decodes to `, make('q', { dir: 'auto' }, ...visible(joined)),
    shortened ? ' …' : '.');
}
