import assert from 'node:assert/strict';
import test from 'node:test';

import { levelsOf } from '../../../ui/chat/attended.js';

/** @import { MessageToken } from '../../../ui/chat/chat_contract' */

/** @type {MessageToken[]} */
const HELLO = [
  { text: ' ', token: null }, { text: 'Hel', token: 3 }, { text: 'lo', token: 4 }, { text: '!', token: 5 },
];
const GIVEN = [10, 10, 10, 1, 7, 3];

test('pieces that are the tokens of the prompt take their levels; white space that was left out has none', () => {
  assert.deepEqual(levelsOf([1, 3, 2, 1], HELLO, GIVEN), [0, 1, 7, 3]);
});

test('pieces with other boundaries take the strongest level of the tokens that they share characters with', () => {
  assert.deepEqual(levelsOf([2, 2, 0, 3], HELLO, GIVEN), [1, 1, 0, 7]);
  assert.deepEqual(levelsOf([7], HELLO, GIVEN), [7]);
  assert.deepEqual(levelsOf([1, 1, 1, 1, 1, 1, 1], HELLO, GIVEN), [0, 1, 1, 1, 7, 7, 3]);
});
