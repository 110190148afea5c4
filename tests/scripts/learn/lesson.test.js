import assert from 'node:assert/strict';
import test from 'node:test';

import { inputText, isInput, MAX_INPUT, parsedInput } from '../../../ui/learn/input.js';

test('a link holds what differs from the chapter’s own numbers, and comes back', () => {
  const first = { width: 64, dots: [[112, 96]], mask: true };
  assert.equal(inputText(first, first), null);
  assert.equal(inputText({}, first), null);
  assert.equal(inputText({ ...first, dots: undefined }, first), null);
  const text = inputText({ ...first, width: 16, sentence: 'a & b = “ü”' }, first);
  assert.deepEqual(parsedInput(text), { width: 16, sentence: 'a & b = “ü”' });
});

test('what is no input is ignored', () => {
  for (const text of [null, '', 'null', '7', '"text"', '[1]', '{"a": ', '{}', `{"a": "${'b'.repeat(MAX_INPUT)}"}`]) {
    assert.deepEqual(parsedInput(text), {});
    assert.equal(isInput(text), false);
  }
  assert.equal(isInput('{"width": 16}'), true);
});
