import assert from 'node:assert/strict';
import test from 'node:test';

import { makeToolbar } from '../../../ui/compare/toolbar.js';

test('a disabled button says why', () => {
  /** @type {any[]} */
  const elements = [];
  const createElement = (tag) => {
    elements.push({ tag, setAttribute(name, value) { this[name] = value; }, append() {}, addEventListener() {} });
    return elements.at(-1);
  };
  Object.assign(globalThis, { document: { createElement } });
  const offered = /** @type {any} */ ({ fills: [{ name: 'Methods', cards: [] }], parameters: [], fewest: 2, most: 2 });
  const toolbar = makeToolbar(offered, /** @type {any} */ ({}));
  const names = ['Methods', 'Custom values …', '+ Add card', 'Share', 'CSV', 'JSON', 'Markdown'];
  const buttons = names.map((name) => elements.find(({ tag, textContent }) => tag === 'button' && textContent === name));
  const reasons = () => buttons.map(({ disabled, title }) => disabled && title);

  toolbar.draw({ cards: [{}], busy: true, hasFiles: true, removed: 0 });
  assert.deepEqual(reasons(), Array(7).fill('When this comparison has ended or is stopped'));
  toolbar.draw({ cards: [{}, {}], busy: false, hasFiles: false, removed: 0 });
  assert.deepEqual(reasons(),
    [false, false, 'A comparison has at most 2 cards', ...Array(4).fill('When you have run this comparison')]);
  toolbar.draw({ cards: [{}], busy: false, hasFiles: true, removed: 0 });
  assert.deepEqual(reasons(), Array(7).fill(false));

  const undo = elements.find(({ tag, textContent }) => tag === 'button' && textContent.startsWith('Undo'));
  assert.ok(undo.hidden);
  toolbar.draw({ cards: [{}], busy: false, hasFiles: true, removed: 2 });
  assert.deepEqual([undo.hidden, undo.disabled, undo.textContent], [false, false, 'Undo: put card 2 back']);
  toolbar.draw({ cards: [{}, {}], busy: false, hasFiles: true, removed: 2 });
  assert.equal(undo.title, 'A comparison has at most 2 cards');
});
