/**
 * How a text is generated: the loop token by token, the bars of one step, and the settings as cards of Compare.
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { changeList, changeRow } from '../../../kit/js/change_bars.js';
import { find, make, makeButton } from '../../../kit/js/dom.js';
import { askedComparison, showTab } from '../../../kit/js/signals.js';
import { percent, tokenChip } from '../../../kit/js/text.js';
import { sideBySide } from '../../lesson.js';
import { extentBar } from '../../drawings/pieces.js';
import { redrawn } from '../../text/slot_values.js';
import { tree } from './generation_tree.js';

export { tree };

/** What the model has read and written. @returns {SlotView} */
export const text_so_far = () => redrawn(make('p', { class: 'at-gen-text at-panel at-row at-wrap at-gap-xs', dir: 'auto' }), ({ loop }) => [
  ...loop.read.map((token) => make('span', { class: 'at-gen-read at-quiet' }, tokenChip(token, true))),
  ...loop.written.map(({ label, probability }) => make('span', { class: 'at-gen-written', title: percent(probability) }, tokenChip(label, true))),
]);

/** The buttons that go on and back. @param {SlotWiring} wiring @returns {SlotView} */
export function steps({ controls }) {
  const loop = () => controls.value('loop');
  const disabled = true; // until there is a text
  const next = makeButton('Next token', () => controls.change({ tokens: [...loop().tokens, loop().next.token] }), { class: 'at-primary', disabled });
  const rest = makeButton('To the end', () => controls.ask({ to_end: true }), { disabled });
  const back = makeButton('Undo', () => controls.change({ tokens: loop().tokens.slice(0, -1) }), { 'data-undo': true, disabled });
  const again = makeButton('Start again', () => controls.change({ tokens: [] }));

  function draw() {
    const hadFocus = [next, rest].includes(/** @type {HTMLButtonElement} */ (document.activeElement));
    next.disabled = rest.disabled = !loop().next;
    back.disabled = !loop().tokens.length;
    if (hadFocus && next.disabled) back.focus(); // the others can't be pressed any more
  }

  return { node: sideBySide(next, rest, back, again), draw };
}

/** The most probable tokens, each a button that appends it. @param {SlotWiring} wiring @returns {SlotView} */
export function candidates({ label, controls }) {
  const node = make('ul', { class: 'at-gen-next', 'aria-label': label });

  function draw({ loop: { next, tokens } }) {
    const hadFocus = node.contains(document.activeElement);
    // in the text in sight: a second click before the answer asks the same again
    node.replaceChildren(...(next ? candidateRows(next, (token) => controls.change({ tokens: [...tokens, token] })) : []));
    const undo = /** @type {HTMLElement} */ (node.closest('section')?.querySelector('[data-undo]'));
    if (hadFocus) (next ? find(node, 'button') : undo).focus();
  }

  return { node, draw };
}

function candidateRows({ candidates: all, token, rest }, append) {
  const most = Math.max(...all.map(({ probability }) => probability));
  const number = (p) => make('span', { class: 'at-number', text: percent(p) });
  return [...all.map(({ id, label, probability: p, is_end }) => make('li', {},
    make('button', {
      type: 'button', class: `at-option at-measured${id === token ? ' at-gen-chosen' : ''}`, onclick: () => append(id),
      title: id === token ? 'This one is chosen' : 'Append this token instead',
    }, make('span', {}, tokenChip(label), is_end ? make('small', { class: 'at-quiet', text: ' end token' }) : ''), extentBar(p / most), number(p)))),
  make('li', { class: 'at-quiet at-measured' }, make('span', { text: 'all others' }), extentBar(Math.min(1, rest / most)), number(rest))];
}

/** Every word's probability before and after. @param {SlotWiring} wiring @returns {SlotView} */
export function bars({ label }) {
  const list = changeList(label);
  const heads = make('div', { class: 'at-gen-heads at-quiet at-sm', 'aria-hidden': 'true' },
    make('span'), make('span'), make('span', { text: 'before' }), make('span', { text: 'after' }));

  function draw({ filters }) {
    const largest = Math.max(...filters.bars.flatMap(({ before, after }) => [before, after]));
    list.replaceChildren(...filters.bars.map(({ word, before, after, cut }) => changeRow(make('span', { text: word }),
      { name: word, before, after, largest, gone: cut && `cut by ${cut.toLowerCase()}`, written: percent, both: true })));
  }

  return { node: make('div', { class: 'at-gen-bars' }, heads, list), draw };
}

/** The settings of this chapter as cards of Compare. @param {SlotWiring} wiring @returns {SlotView} */
export function cards({ label, controls }) {
  const list = make('ol', { class: 'at-listed at-gen-cards' });
  const open = makeButton(label, () => {
    const loop = controls.value('loop');
    askedComparison.publish({ text: loop.prompt, answer: loop.mode === 'message', cards: controls.value('cards') });
    showTab('Compare');
  }, { class: 'at-primary', disabled: true }); // until there is a text
  const draw = (result) => {
    open.disabled = false;
    list.replaceChildren(...result.cards.map((card) => make('li', { text: cardName(card) })));
  };
  return { node: make('div', {}, list, open), draw };
}

/** @param {Record<string, any>} card its settings */
function cardName({ strategy, num_beams: beams, ...settings }) {
  if (strategy === 'greedy') return 'Greedy decoding';
  if (strategy === 'beam') return `Beam search with ${beams} beams`;
  const changed = Object.entries(settings).map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`.replace('-', '−'));
  return changed.length ? `Sampling with ${changed.join(', ')}` : 'Sampling from the model’s own probabilities';
}
