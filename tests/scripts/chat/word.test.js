import assert from 'node:assert/strict';
import test from 'node:test';

import { tokenOfWord } from '../../../ui/chat/formatted/word.js';

const TOKENS = ['A ', '**f', 'ox**', ' and a', ' fox', ', `fo', 'x`', '!'];
const READ = 'A \nfox\n and a fox, \nfox\n!\n'; // as the page shows it

/** @param {number} offset */
const at = (offset) => tokenOfWord(READ, offset, TOKENS);

test('a word leads to the token that it begins in, as often as it came before', () => {
  const foxes = [...READ.matchAll(/fox/g)].map(({ index }) => index);
  assert.deepEqual(foxes.map((index) => at(index)), [1, 4, 5]);
  assert.deepEqual(foxes.map((index) => at(index + 2)), [1, 4, 5]); // its last letter as well
  assert.deepEqual([at(0), at(READ.indexOf('and'))], [0, 3]);
});

test('between words there is none', () => {
  assert.deepEqual([at(1), at(READ.indexOf('!')), at(READ.length)], [null, null, null]);
});

test('a word that the one text has more often than the other leads nowhere', () => {
  assert.equal(tokenOfWord('see fox\n', 4, ['see', ' [fox]', '(https://fox.org)']), null); // the address isn't shown
  assert.equal(tokenOfWord('see fox\n', 0, ['see', ' [fox]', '(https://fox.org)']), 0);
});
