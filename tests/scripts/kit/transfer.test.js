import assert from 'node:assert/strict';
import test from 'node:test';

import { fileName } from '../../../ui/kit/js/transfer.js';

test('a file is named by what it holds, in letters that any disk takes', () => {
  assert.equal(fileName(['attend-chat', 'What’s the capital\nof France?']), 'attend-chat-whats-the-capital-of-france');
  assert.equal(fileName(['Qwen2.5-0.5B', 'Où est la gare ? ../../etc/passwd']), 'qwen2.5-0.5b-ou-est-la-gare-etc-passwd');
  assert.equal(fileName(['attend-translate [fr→en]', '你好']), 'attend-translate-fr-en'); // what has no such letters is left out
  assert.equal(fileName(['', '…']), 'attend');
});

test('the name of a file keeps whole words, and no part of it is longer than 40 characters', () => {
  const text = 'Once upon a time there was a little fox who lived';
  assert.equal(fileName([text]), 'once-upon-a-time-there-was-a-little-fox');
  assert.equal(fileName(['x'.repeat(5000)]).length, 40);
});
