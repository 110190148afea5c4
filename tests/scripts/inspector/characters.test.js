import assert from 'node:assert/strict';
import test from 'node:test';

import { characterGroups } from '../../../ui/inspector/characters.js';

/** @param {...string} labels */
const groups = (...labels) => characterGroups(labels.map((label) => ({ text: label, kind: 'prompt' })));

test('the bytes F0 9F A6 8A are a fox', () => {
  assert.deepEqual(groups(' a', '<0xF0>', '<0x9F>', '<0xA6>', '<0x8A>', '.'), [{ from: 1, end: 5, text: '🦊' }]);
});

test('a token may hold several bytes, and text beside them', () => {
  assert.deepEqual(groups(' <0xF0><0x9F>', '<0xA6>', '<0x8A>!'), [{ from: 0, end: 3, text: '🦊' }]);
  assert.deepEqual(groups('<0xC3>', '<0xA9>', '<0xE4><0xBD>', '<0xA0>'), [
    { from: 0, end: 2, text: 'é' }, { from: 2, end: 4, text: '你' },
  ]);
});

test('a token that ends one character and begins the next is in one group with both', () => {
  assert.deepEqual(groups('<0xF0><0x9F><0xA6>', '<0x8A><0xC3>', '<0xA9>'), [{ from: 0, end: 3, text: '🦊é' }]);
});

test('bytes that form no character are in no group', () => {
  assert.deepEqual(groups('<0xF0>', '<0x9F>', '<0xA6>'), []); // it has not ended
  assert.deepEqual(groups('<0x9F>', '<0xA6>'), []); // it has not begun
  assert.deepEqual(groups('<0xF0>', '<0x9F>', 'a', '<0xA6>', '<0x8A>'), []);
  assert.deepEqual(groups('<0xED>', '<0xA0>', '<0x80>'), []); // half of a pair
  assert.deepEqual(groups('<0xC3>', '<0x28>', 'é', '<0x00>'), []);
});

test('no group goes over a special token, whatever its name', () => {
  assert.deepEqual(characterGroups([{ text: '<0xC3>', kind: 'prompt' }, { text: '<0xA9>', kind: 'control' }, { text: '<0xA9>', kind: 'prompt' }]), []);
});

test('long texts take linear time', () => {
  const labels = Array.from({ length: 100_000 }, (_, index) => ['<0xF0>', '<0x9F>', '<0xA6>', '<0x8A>'][index % 4]);
  assert.equal(groups(...labels).length, 25_000);
});
