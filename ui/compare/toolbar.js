/**
 * The row above the cards: sets of cards to start from, a sweep, another card, a link to them, and the files of the results.
 */

/** @import { CompareForm } from './compare_contract' */
/** @import { Settings } from './cards/form.js' */

import { make, makeButton } from '../kit/js/dom.js';
import { makeClassButton } from '../kit/parts/class_button.js';
import { same } from './cards/form.js';
import { makeSweep } from './sweep.js';

const FILES = /** @type {const} */ ({ csv: 'CSV', json: 'JSON', md: 'Markdown' });

/**
 * @param {CompareForm} offered
 * @param {{fill: (cards: Settings[]) => void, add: () => void, link: (button: HTMLElement) => void,
 *   classLink: (button: HTMLElement) => void, share: (button: HTMLElement) => void, download: (kind: keyof typeof FILES) => void}} actions
 */
export function makeToolbar(offered, { fill, add, link, classLink, share, download }) {
  const fills = offered.fills.map(({ name, cards }) => makeButton(name, () => fill(cards)));
  const sweep = makeSweep(offered, fill);
  const addButton = makeButton('+ Add card', add);
  const linkButton = makeButton('Copy link', () => link(linkButton),
    { title: 'A link that opens these cards with the same prompt and settings' });
  const shareButton = makeButton('Share', () => share(shareButton),
    { title: 'Save a page that shows these cards in any browser, without a server; it is made here and sent nowhere' });
  const classButton = makeClassButton(classLink);
  const files = Object.entries(FILES).map(([kind, name]) => makeButton(name, () => download(/** @type {keyof typeof FILES} */ (kind))));
  const row = make('div', { class: 'at-row at-wrap at-gap-sm at-md at-ask-row' }, make('span', { class: 'at-quiet', text: 'Fill with' }), ...fills, sweep.chip,
    addButton, make('span', { class: 'at-row at-wrap at-gap-sm at-end at-files' }, linkButton, classButton, shareButton,
      make('span', { class: 'at-quiet', text: 'Download' }), ...files));

  /** @param {{cards: Settings[], busy: boolean, hasFiles: boolean}} now */
  function draw({ cards, busy, hasFiles }) {
    sweep.chip.disabled = busy;
    fills.forEach((chip, i) => {
      chip.disabled = busy;
      chip.setAttribute('aria-pressed', String(same(cards, offered.fills[i].cards)));
    });
    for (const button of [shareButton, ...files]) button.disabled = busy || !hasFiles;
    addButton.disabled = busy || cards.length >= offered.most;
    addButton.title = cards.length >= offered.most ? `A comparison has at most ${offered.most} cards` : '';
  }

  return { nodes: [row, sweep.node], draw, focusAdd: () => addButton.focus() };
}
