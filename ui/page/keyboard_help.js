/**
 * The page's help: it begins the tour again, leads to the glossary and lists the keys. It opens by "?" or by its button in the
 * header.
 */

import { ALL, termLink } from '../glossary/term_link.js';
import { present } from '../classroom/presenter.js';
import { makeDialog } from '../kit/overlay/dialog.js';
import { around, make, makeButton } from '../kit/js/dom.js';
import { canTakeTour, takeTour } from '../tour/offer.js';

/** @typedef {[keys: string, effect: string]} Shortcut */

/** @type {{title: string, where: string, shortcuts: Shortcut[]}[]} `where`: the element that is on the page when they work */
const SECTIONS = [
  { title: 'Everywhere', where: 'body', shortcuts: [
    ['Esc', 'Stop generating, or close what is open'], ['?', 'Show this help'],
  ] },
  { title: 'Tokens', where: '.attend-inspector', shortcuts: [
    ['← →', 'Previous, next token'], ['↑ ↓', 'Previous, next line'], ['Home End', 'First, last token'],
    ['Enter', 'Inspect the focused token'],
  ] },
  { title: 'Attention map, beams', where: '.attend-inspector', shortcuts: [
    ['← → ↑ ↓', 'Move'], ['Enter', 'Inspect the token under the cursor'],
  ] },
  { title: 'Chat', where: '#attend-chat', shortcuts: [
    ['Enter', 'Send a message, new or edited'], ['Shift Enter', 'New line'], ['Esc', 'Cancel editing'],
  ] },
  { title: 'Write', where: '#attend-write', shortcuts: [
    ['Ctrl Enter', 'Continue the text'], ['Enter', 'New line'], ['← → ↑ ↓', 'Follow the curve of a scored text'],
  ] },
  { title: 'Translate', where: '#attend-translate', shortcuts: [
    ['Enter', 'Translate'], ['Shift Enter', 'New line'], ['← → ↑ ↓', 'Follow the lines between the texts'],
  ] },
  { title: 'Compare', where: '#attend-compare', shortcuts: [['Ctrl Enter', 'Compare']] },
  { title: 'Learn', where: '#attend-lesson', shortcuts: [
    ['← → ↑ ↓', 'Move in a table or picture'], ['Enter', 'Apply the number'], ['Esc', 'Restore the old number'],
  ] },
  { title: 'Tour', where: '#attend-chat', shortcuts: [['← →', 'Previous, next step'], ['Esc', 'Skip the tour']] },
];
const FIELDS = 'textarea, select, [contenteditable], input:not([type="radio"], [type="checkbox"], [type="range"])';

/** @param {HTMLElement} header which has the button */
export function offerKeyboardHelp(header) {
  const list = make('div', { class: 'at-shortcuts at-md' });
  const tour = makeButton('Take the tour', () => {
    dialog.close();
    takeTour();
  });
  const elsewhere = make('p', { text: 'The tour shows how a text is made: open Chat to take it.' });
  const presenting = makeButton('Present this page', () => {
    dialog.close();
    present();
  }, { title: 'Large type, one panel at a time' });
  const terms = make('p', { onclick: () => dialog.close() }, termLink(ALL, 'Glossary'));
  const dialog = makeDialog('attend-keys-dialog', 'Help', tour, presenting, elsewhere, terms,
    make('h3', { text: 'Keyboard shortcuts' }), list);
  header.append(dialog);

  function open() {
    const offered = SECTIONS.filter(({ where }) => document.querySelector(where));
    list.replaceChildren(...offered.map(({ title, shortcuts }) => make('section', {},
      make('h4', { text: title }), make('dl', {}, ...shortcuts.flatMap(describe)))));
    tour.hidden = !canTakeTour();
    elsewhere.hidden = !tour.hidden || !document.querySelector('#attend-tabs [data-name="Chat"]')?.checkVisibility(); // an encoder has no Chat
    dialog.showModal();
  }

  header.querySelector('#attend-keys').addEventListener('click', open);
  document.addEventListener('keydown', (event) => {
    const isTyping = around(event, FIELDS);
    if (event.key !== '?' || event.ctrlKey || event.metaKey || isTyping || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    open();
  });
}

/** @param {Shortcut} shortcut */
const describe = ([keys, effect]) => [
  make('dt', {}, ...keys.split(' ').map((key) => make('kbd', { text: key }))), make('dd', { text: effect }),
];
