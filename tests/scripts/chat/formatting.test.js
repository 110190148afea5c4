import assert from 'node:assert/strict';
import test from 'node:test';

import { batch } from '../../../ui/chat/formatted/requests.js';

test('one question takes as many texts as the server does, and at least one', () => {
  const texts = (/** @type {number[]} */ ...lengths) => lengths.map((length) => 'a'.repeat(length));
  assert.equal(batch(texts(10, 20)), 2);
  assert.equal(batch(texts(15_000, 5_000, 1)), 2);
  assert.equal(batch(texts(20_001, 1)), 1);
  assert.equal(batch(texts(...Array(501).fill(1))), 500);
});
