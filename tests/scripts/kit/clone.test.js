import assert from 'node:assert/strict';
import test from 'node:test';

import { cloneObjectsOnly } from '../../../ui/kit/gradio/clone.js';

test('every value is copied, and every function refused, as by the browser itself', () => {
  const clone = cloneObjectsOnly(structuredClone);
  for (const value of [1, -0, 'text', true, null, undefined, 12n, [1, { a: 2 }], new Map([[1, new Set([2])]]), new Date(7)]) {
    assert.deepEqual(clone(value), structuredClone(value));
  }
  const original = { list: [1] };
  assert.ok(clone(original).list !== original.list);
  for (const value of [() => 1, Symbol('s'), { inside: () => 1 }]) {
    assert.throws(() => structuredClone(value), /cloned/);
    assert.throws(() => clone(value), /copied|cloned/);
  }
});
