import assert from 'node:assert/strict';
import test from 'node:test';

import { explainEnd } from '../../../ui/write/ended.js';

test('what a reloaded page says at the end of a text needs no Undo, which is disabled there', () => {
  const button = { disabled: true, title: '' };
  const document = { querySelectorAll: () => [button], querySelector: () => null };
  /** @type {() => void} */
  let changed;
  class MutationObserver {
    constructor(callback) { changed = callback; }

    observe() {}
  }
  Object.assign(globalThis, { document, MutationObserver });
  explainEnd(/** @type {any} */ ({ addEventListener() {} }));
  changed();
  assert.equal(button.title, 'The model ended its text here: keep typing, or use another token instead.');
});
