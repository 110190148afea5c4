/**
 * The row above the cards: sets of cards to start from, a sweep, another card, a link to them, and the files of the results.
 */

/** @import { CompareForm } from './compare_contract' */
/** @import { Settings } from './cards/form.js' */

import { make, makeButton, setText } from '../kit/js/dom.js';
import { makeClassButton } from '../kit/parts/class_button.js';
import { BUSY } from './cards/editing.js';
import { same } from './cards/form.js';
import { makeSweep } from './sweep.js';

const FILES = /** @type {const} */ ({ csv: 'CSV', json: 'JSON', md: 'Markdown' });
const SHARE = 'Save a page that shows these cards in any browser, without a server; it is made here and sent nowhere';
const NOT_RUN = 'When you have run this comparison'; // why a button is disabled

/**
 * @param {CompareForm} offered
 * @param {{fill: (cards: Settings[]) => void, add: () => void, restore: () => void, link: (button: HTMLElement) => void,
 *   classLink: (button: HTMLElement) => void, share: (button: HTMLElement) => void, download: (kind: keyof typeof FILES) => void}} actions
 */
export function makeToolbar(offered, { fill, add, restore, link, classLink, share, download }) {
  const fills = offered.fills.map(({ name, cards }) => makeButton(name, () => fill(cards)));
  const sweep = makeSweep(offered, fill);
  const addButton = makeButton('+ Add card', add);
  const undoButton = makeButton('', restore);
  const linkButton = makeButton('Copy link', () => link(linkButton),
    { title: 'A link that opens these cards with the same prompt and settings' });
  const shareButton = makeButton('Share', () => share(shareButton));
  const classButton = makeClassButton(classLink);
  const files = Object.entries(FILES).map(([kind, name]) => makeButton(name, () => download(/** @type {keyof typeof FILES} */ (kind))));
  const row = make('div', { class: 'at-row at-wrap at-gap-sm at-md at-ask-row' }, make('span', { class: 'at-quiet', text: 'Fill with' }), ...fills, sweep.chip,
    addButton, undoButton, make('span', { class: 'at-row at-wrap at-gap-sm at-end at-files' }, linkButton, classButton, shareButton,
      make('span', { class: 'at-quiet', text: 'Download' }), ...files));

  /** @param {{cards: Settings[], busy: boolean, hasFiles: boolean, removed: string}} now with the name of the card that can be put back; "" for none */
  function draw({ cards, busy, hasFiles, removed }) {
    const [reason, fileReason] = busy ? [BUSY, BUSY] : ['', hasFiles ? '' : NOT_RUN];
    disable([sweep.chip, ...fills], reason);
    fills.forEach((chip, i) => chip.setAttribute('aria-pressed', String(same(cards, offered.fills[i].cards))));
    disable([shareButton, ...files], fileReason);
    shareButton.title = fileReason || SHARE;
    const fullReason = reason || (cards.length >= offered.most ? `A comparison has at most ${offered.most} cards` : '');
    disable([addButton, undoButton], fullReason);
    undoButton.hidden = !removed;
    if (removed) setText(undoButton, `Undo: put back ${removed}`);
  }

  /** Put Undo beside Add, its place unless the cards are in one column. It keeps the focus if it is there already. */
  function placeUndo() {
    if (addButton.nextElementSibling !== undoButton) addButton.after(undoButton);
  }

  return { nodes: [row, sweep.node], undo: undoButton, placeUndo, draw, focusUndo: () => (undoButton.hidden ? addButton : undoButton).focus() };
}

/** @param {HTMLButtonElement[]} buttons @param {string} reason "" if they can be pressed */
function disable(buttons, reason) {
  for (const button of buttons) Object.assign(button, { disabled: Boolean(reason), title: reason });
}
