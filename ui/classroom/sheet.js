/**
 * The sheet that makes a teacher's link: what the students see and do, and the link to copy. Any link of the page can become
 * one; it stays the same but for its part `class`.
 */

/** @import { ClassWord } from '../kit/address/class_part.js' */

import { withParts } from '../kit/address/address.js';
import { classPart, hasOneText, newClassName } from '../kit/address/class_part.js';
import { find, make, makeButton } from '../kit/js/dom.js';
import { classLinkWanted, shownTab } from '../kit/js/signals.js';
import { copy } from '../kit/js/transfer.js';
import { makeDialog } from '../kit/overlay/dialog.js';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const GUESSED = ['Chat', 'Write']; // the tabs whose tokens can be guessed

/** @type {{word: ClassWord, text: string, tabs: string[] | null}[]} `tabs`: where it is offered; null: in all */
const CHOICES = [
  { word: 'guess', text: 'They guess each token before they see it', tabs: GUESSED },
  { word: 'inspector', text: 'They see how each token was chosen', tabs: [...GUESSED, 'Compare', 'Translate'] },
  { word: 'write', text: 'They may change the text', tabs: [...GUESSED, 'Compare', 'Translate'] },
  { word: 'settings', text: 'They see the settings', tabs: [...GUESSED, 'Compare', 'Translate'] },
  { word: 'present', text: 'Large type, one panel at a time', tabs: null },
];

/** Open the sheet with every link that is wanted for a class. */
export function offerClassLinks() {
  const boxes = CHOICES.map((choice) => {
    const box = make('input', { type: 'checkbox', onchange: draw });
    return { ...choice, box, label: make('label', { class: 'at-row' }, box, choice.text) };
  });
  const link = make('pre', { class: 'at-scroll', tabindex: 0, 'aria-label': 'Link' });
  const copyButton = makeButton('Copy link', () => copy(link.textContent, copyButton), { class: 'at-primary' });
  const open = make('a', { class: 'at-plain', target: '_blank', rel: 'noopener', text: 'Open it' });
  const note = make('p', { class: 'at-note' });
  const local = make('p', {
    class: 'at-note', hidden: !LOOPBACK.includes(window.location.hostname),
    text: 'This address works on this computer alone: start the page with --host 0.0.0.0 and open it under the computer’s own address to reach it from others.',
  });
  const dialog = makeDialog('attend-class-dialog', 'For a class',
    make('p', { text: 'A link that begins with the prompt and settings on this page and hides the rest: other tabs, models, history and examples. Of a conversation it has the last message alone.' }),
    make('fieldset', { class: 'at-stack at-gap-sm' }, make('legend', { class: 'at-strong', text: 'Students' }), ...boxes.map(({ label }) => label)),
    link, make('div', { class: 'at-row at-wrap' }, copyButton, open), note, local);
  find(document.body, '.attend-header').append(dialog);
  let address = '';
  let name = '';

  classLinkWanted.subscribe(dialog, (wanted) => {
    [address, name] = [wanted, newClassName()];
    const hasText = new URL(address).searchParams.has('prompt');
    const tab = shownTab.latest;
    for (const { word, box, label, tabs } of boxes) {
      label.hidden = tabs !== null && !tabs.includes(tab);
      box.checked = !label.hidden && (word === 'guess' || word === 'inspector' || (word === 'write' && !hasText));
    }
    draw();
    dialog.showModal();
  });

  function draw() {
    const words = boxes.filter(({ box }) => box.checked).map(({ word }) => word);
    const needsSeed = words.includes('guess') && !(Number(new URL(address).searchParams.get('seed') ?? -1) >= 0);
    const parts = { class: classPart({ name, words }), ...(needsSeed && { seed: crypto.getRandomValues(new Uint16Array(1))[0] }) };
    link.textContent = open.href = withParts(address, parts);
    const gathers = 'All have the same text, by the same seed. This server gathers numbers alone, the bits of each guess, and forgets them after three hours.';
    const differs = 'Where students may change the text or the settings, there is no mean of the class.';
    note.textContent = !words.includes('guess') ? '' : hasOneText(words) ? gathers : differs;
  }
}
