/**
 * Patch: two texts of as many tokens that differ in a word, and where inside the model the difference is kept.
 */

/** @import { PatchAnswer, PatchBeginning, PatchForm } from './why_contract' */
/** @import { Asking, Place } from './why.js' */
/** @import { Sheet } from '../../kit/js/data.js' */

import { make, makeButton } from '../../kit/js/dom.js';
import { makeData } from '../../kit/js/data.js';
import { signed, tokenChip, visibleText } from '../../kit/js/text.js';
import { makeGrid, makeHeadGrid, nats } from './plots.js';

const FIELDS = {
  clean: 'First text', corrupted: 'Second text', beginning: 'The answer begins', answer: 'First text’s answer', rival: 'Second text’s answer',
};
const READ = { chat: 'The texts are messages, and their answers begin as you say.', write: 'The texts are continued.', translate: 'The texts are translated.' };
const MAX_CHARACTERS = 400;

/** @param {Asking} asking */
export function makeView({ answerTo }) {
  /** @type {PatchForm | null} */
  let example = null;
  /** @type {PatchAnswer | null} */
  let answer = null;
  let offeredTo = '';

  const boxes = /** @type {Record<keyof PatchForm, HTMLInputElement>} */ (Object.fromEntries(Object.keys(FIELDS).map((name) =>
    [name, make('input', { type: 'text', maxlength: MAX_CHARACTERS, autocomplete: 'off', spellcheck: 'false' })])));
  const note = make('span', { class: 'at-sm at-quiet' });
  const tryIt = makeButton('Try an example', () => {
    for (const [name, box] of Object.entries(boxes)) box.value = example[name];
    patch();
  }, { hidden: true });
  const form = make('form', { class: 'at-patch-form', onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    patch();
  } }, ...Object.entries(boxes).map(([name, box]) => make('label', { class: `at-sm at-patch-${name}` }, make('span', { class: 'at-quiet', text: FIELDS[name] }), box)),
  make('div', { class: 'at-row at-wrap at-patch-buttons' }, make('button', { type: 'submit', class: 'at-primary', text: 'Patch' }), tryIt, note));
  const result = make('div', { class: 'at-stack', 'aria-live': 'polite' });
  const data = makeData(sheets);
  const node = make('div', { class: 'at-stack' },
    make('p', { class: 'at-md at-quiet', text: 'The model reads the second text, but one part of it is replaced by what the same part computed for the first text. '
      + '1 means that this alone brings the first text’s answer back, 0 that it changes nothing. This shows that the part carries the difference; it can’t show '
      + 'that the part would be enough in another text.' }),
    form, result, data.node);

  /** @param {Place} place */
  async function show({ run }) {
    if (offeredTo === run) return;
    /** @type {PatchBeginning | undefined} */
    const reply = await answerTo('patch_form');
    if (!reply) return;
    offeredTo = run;
    example = reply.example;
    tryIt.hidden = !example;
    note.textContent = READ[reply.mode];
  }

  async function patch() {
    const values = Object.fromEntries(Object.entries(boxes).map(([name, box]) => [name, box.value]));
    /** @type {PatchAnswer | undefined} */
    const reply = await answerTo('patch_texts', values);
    if (!reply) return;
    answer = reply;
    draw(reply);
  }

  function openData() {
    data.node.open = true; // which draws the tables
    data.node.scrollIntoView({ block: 'nearest' });
  }

  /** @param {PatchAnswer} reply */
  function draw({ clean, corrupted, first, positions, heads, differences, answer: wanted, rival }) {
    const isApart = differing(clean, corrupted);
    const texts = [clean, corrupted].map((tokens, i) => make('p', { class: 'at-patch-tokens' },
      make('span', { class: 'at-sm at-quiet', text: `${i ? 'Second' : 'First'} text, ${tokens.length} tokens: ` }),
      ...tokens.map((token, at) => {
        const chip = tokenChip(token, true);
        chip.classList.toggle('at-differing', isApart(at, tokens.length));
        return chip;
      })));
    if (!positions) {
      result.replaceChildren(make('p', { class: 'at-strong', role: 'alert', text: `The texts have ${clean.length} and ${corrupted.length} tokens, but a patch needs `
        + 'texts of equal length: choose words with the same number of tokens.' }), ...texts);
    } else {
      const names = clean.slice(first).map((token, at) => (token === corrupted[first + at] ? visibleText(token) : `${visibleText(token)}/${visibleText(corrupted[first + at])}`));
      const share = (value) => signed(value.toFixed(2));
      const byPosition = makeGrid({
        rows: positions.map((_, layer) => `layer ${layer + 1}`), columns: names, values: positions, room: node.clientWidth, onPick: openData, file: ['patch', 'positions'],
        title: 'The stream after a layer, at one token: how much of the answer it brings back',
        describe: (layer, at) => `After layer ${layer + 1}, at ${names[at]}: ${share(positions[layer][at])}`,
      });
      const byHead = makeHeadGrid({
        values: heads, room: node.clientWidth, onPick: openData, file: ['patch', 'heads'], title: 'One head, at all tokens: how much of the answer it brings back',
        describe: (layer, head) => `Layer ${layer + 1}, head ${head + 1}: ${share(heads[layer][head])}`,
      });
      result.replaceChildren(...texts, make('p', { class: 'at-md' }, 'log p(', tokenChip(wanted), ') − log p(', tokenChip(rival),
        `) is ${nats(differences[0])} after the first text and ${nats(differences[1])} after the second.`), byPosition, byHead);
    }
    data.draw();
  }

  /** @returns {Sheet[]} */
  function sheets() {
    if (!answer?.positions) return [];
    const { clean, corrupted, first, positions, heads } = answer;
    return [
      { title: 'Positions', head: ['position', 'first text', 'second text', ...positions.map((_, layer) => `after layer ${layer + 1}`)],
        rows: positions[0].map((_, at) => [at + 1, JSON.stringify(clean[first + at]), JSON.stringify(corrupted[first + at]), ...positions.map((line) => line[at])]) },
      { title: 'Heads', head: ['layer', ...heads[0].map((_, head) => `head ${head + 1}`)], rows: heads.map((line, layer) => [layer + 1, ...line]) },
    ];
  }

  return { node, show };
}

/**
 * Which tokens differ: of texts of equal length each from its counterpart, of others those between their common beginning and end.
 * @param {string[]} one @param {string[]} other @returns {(at: number, length: number) => boolean} `length`: of its text
 */
function differing(one, other) {
  if (one.length === other.length) return (at) => one[at] !== other[at];
  const shorter = Math.min(one.length, other.length);
  let [first, last] = [0, 0]; // tokens in common, from both ends
  while (first < shorter && one[first] === other[first]) first += 1;
  while (last < shorter - first && one.at(-1 - last) === other.at(-1 - last)) last += 1;
  return (at, length) => at >= first && at < length - last;
}
