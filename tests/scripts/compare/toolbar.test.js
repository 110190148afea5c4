import assert from 'node:assert/strict';
import test from 'node:test';

import { makeToolbar } from '../../../ui/compare/toolbar.js';

/** A toolbar for at most two cards, and a function that finds one of its buttons by the beginning of its text. */
function drawn() {
  /** @type {any[]} */
  const elements = [];
  const createElement = (tag) => {
    elements.push({ tag, setAttribute(name, value) { this[name] = value; }, append() {}, addEventListener() {} });
    return elements.at(-1);
  };
  Object.assign(globalThis, { document: { createElement } });
  const offered = /** @type {any} */ ({ fills: [{ name: 'Methods', cards: [] }], parameters: [], fewest: 2, most: 2 });
  const toolbar = makeToolbar(offered, /** @type {any} */ ({}));
  return { toolbar, button: (name) => elements.find(({ tag, textContent }) => tag === 'button' && textContent?.startsWith(name)) };
}

test('a disabled button says why', () => {
  const { toolbar, button } = drawn();
  const names = ['Methods', 'Custom values …', '+ Add card', 'Share', 'CSV', 'JSON', 'Markdown'];
  const buttons = names.map(button);
  const reasons = () => buttons.map(({ disabled, title }) => disabled && title);

  toolbar.draw({ cards: [{}], busy: true, hasFiles: true, removed: '' });
  assert.deepEqual(reasons(), Array(7).fill('When this comparison has ended or is stopped'));
  toolbar.draw({ cards: [{}, {}], busy: false, hasFiles: false, removed: '' });
  assert.deepEqual(reasons(),
    [false, false, 'A comparison has at most 2 cards', ...Array(4).fill('When you have run this comparison')]);
  toolbar.draw({ cards: [{}], busy: false, hasFiles: true, removed: '' });
  assert.deepEqual(reasons(), Array(7).fill(false));
});

test('Undo names the card that it puts back', () => {
  const { toolbar, button } = drawn();
  const draw = (removed, cards = [{}]) => toolbar.draw({ cards, busy: false, hasFiles: true, removed });
  draw('card 2');
  const undo = button('Undo: put back card 2');
  assert.deepEqual([undo.hidden, undo.disabled], [false, false]);
  draw('card 2', [{}, {}]);
  assert.equal(undo.title, 'A comparison has at most 2 cards');
  draw('');
  assert.ok(undo.hidden);
});
