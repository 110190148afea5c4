import assert from 'node:assert/strict';
import test from 'node:test';

import { fitting, inputText, isInput, MAX_INPUT, parsedInput } from '../../../ui/learn/input.js';

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

test('before it is checked, a link shows what has the form of the example', () => {
  const first = { dots: [[112, 96]], text: 'dog', width: 2, ids: [1, 2], tokens: [], mask: true };
  const fits = { dots: [[1, 2]], text: '', width: -1, ids: [3], tokens: ['any'], mask: false, model: null };
  assert.deepEqual(fitting(fits, first), fits);
  /** @type {Record<string, any[]>} */
  const wrong = { dots: [[], [[]], [[1]], [[1, 2], [3, 4]], [[1, null]], [['1', 2]], 'dots', null], text: [7, null], ids: [[], ['1'], {}], tokens: ['7'] };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) assert.deepEqual(fitting({ [name]: value }, first), {});
  }
});
