/**
 * The sheet that makes a teacher's link: what the students see and do, and the link to copy. Any link of the page can become
 * one; only its part `class` is added.
 */

/** @import { ClassWord } from '../kit/address/class_part.js' */

import { withParts } from '../kit/address/address.js';
import { classPart, hasOneText, isRound, newName, ROUND } from '../kit/address/class_part.js';
import { find, make, makeButton } from '../kit/js/dom.js';
import { classLinkWanted, runsInBrowser, shownTab } from '../kit/js/signals.js';
import { copy } from '../kit/js/transfer.js';
import { makeDialog } from '../kit/overlay/dialog.js';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const GUESSED = ['Chat', 'Write']; // the tabs whose tokens can be guessed
const WITH_RUNS = [...GUESSED, 'Compare', 'Translate'];

/** @type {{word: ClassWord, text: string, tabs: string[] | null}[]} `tabs`: where it is offered; null: in all */
const CHOICES = [
  { word: 'guess', text: 'They guess each token before they see it', tabs: GUESSED },
  { word: 'inspector', text: 'They see how each token was chosen', tabs: WITH_RUNS },
  { word: 'write', text: 'They may change the text', tabs: WITH_RUNS },
  { word: 'settings', text: 'They see the settings', tabs: WITH_RUNS },
  { word: 'present', text: 'Large type, one panel at a time', tabs: null },
];

/** What the sheet says of a page with a server, and of one without. */
const ELSEWHERE = {
  served: 'This address works only on this computer: start the page with --host 0.0.0.0 and open it under the computer’s own address to reach it from others.',
  alone: 'This address works only on this computer: put the page’s folder on a static host to reach it from others.',
};
const GATHERS = 'All students get the same text, from the same seed. This server keeps no text, only the bits of each guess, and forgets them after three hours.';
const DIFFERS = 'Where students may change the text or the settings, there is no mean of the class.';
const ALONE = 'Each student’s browser runs the model, with 8-bit weights, and no server gathers guesses, so there is no mean of the class.';

/** Open the sheet with every link that is wanted for a class. @param {boolean} hasServer */
export function offerClassLinks(hasServer) {
  const boxes = CHOICES.map((choice) => {
    const box = make('input', { type: 'checkbox', onchange: draw });
    return { ...choice, box, label: make('label', { class: 'at-row' }, box, choice.text) };
  });
  const guessBox = boxes.find(({ word }) => word === 'guess').box;
  const round = make('input', { type: 'number', class: 'at-text-field', min: ROUND.least, max: ROUND.most, value: ROUND.usual, oninput: draw });
  const rounds = make('label', { class: 'at-row at-round' }, 'Guesses before the whole text is shown', round);
  const alone = make('input', { type: 'checkbox', onchange: draw });
  const aloneLabel = make('label', { class: 'at-row' }, alone, 'Their browsers run the model; this server computes nothing');
  const link = make('pre', { class: 'at-scroll', tabindex: 0, 'aria-label': 'Link' });
  const copyButton = makeButton('Copy link', () => copy(link.textContent, copyButton), { class: 'at-primary' });
  const open = make('a', { class: 'at-plain', target: '_blank', rel: 'noopener', text: 'Open it' });
  const note = make('p', { class: 'at-note', role: 'status' });
  const local = make('p', { class: 'at-note', hidden: !LOOPBACK.includes(window.location.hostname), text: hasServer ? ELSEWHERE.served : ELSEWHERE.alone });
  const dialog = makeDialog('attend-class-dialog', 'For a class',
    make('p', { text: 'A link that begins with the prompt and settings on this page and hides the rest: other tabs, models, history and examples. It takes only the last message of a conversation.' }),
    make('fieldset', { class: 'at-stack at-gap-sm' }, make('legend', { class: 'at-strong', text: 'Students' }),
      ...boxes.flatMap(({ word, label }) => (word === 'guess' ? [label, rounds] : [label])), aloneLabel),
    link, make('div', { class: 'at-row at-wrap' }, copyButton, open), note, local);
  find(document.body, '.attend-header').append(dialog);
  let address = '';
  let name = '';

  classLinkWanted.subscribe(dialog, (wanted) => {
    [address, name] = [wanted, newName()];
    const hasText = new URL(address).searchParams.has('prompt');
    const tab = shownTab.latest;
    for (const { word, box, label, tabs } of boxes) {
      label.hidden = tabs !== null && !tabs.includes(tab);
      box.checked = !label.hidden && (word === 'guess' || word === 'inspector' || (word === 'write' && !hasText));
    }
    aloneLabel.hidden = !runsInBrowser.latest || !WITH_RUNS.includes(tab);
    alone.checked = false;
    draw();
    dialog.showModal();
  });

  function draw() {
    const words = boxes.filter(({ box }) => box.checked).map(({ word }) => word);
    const isGuessed = guessBox.checked;
    const length = isGuessed ? round.valueAsNumber : ROUND.usual;
    const needsSeed = isGuessed && !(Number(new URL(address).searchParams.get('seed') ?? -1) >= 0);
    const parts = { class: classPart({ name, words, round: length }), ...(needsSeed && { seed: crypto.getRandomValues(new Uint16Array(1))[0] }) };
    rounds.hidden = !isGuessed;
    copyButton.disabled = open.inert = !isRound(length);
    link.textContent = open.href = isRound(length) ? withParts(alone.checked ? addressAlone(address) : address, parts) : '';
    if (!isRound(length)) note.textContent = `A round has ${ROUND.least} to ${ROUND.most} guesses: change the number.`;
    else note.textContent = !isGuessed ? '' : !hasServer || alone.checked ? ALONE : hasOneText(words) ? GATHERS : DIFFERS;
  }
}

/** The address on the page without a server, which this server offers. @param {string} address */
const addressAlone = (address) => new URL(`in-browser/${new URL(withParts(address, { weights: null })).search}`, document.baseURI).href;
