import assert from 'node:assert/strict';
import test from 'node:test';

import { typing } from '../../../ui/learn/text/typing.js';

/** A field, and whether it has the focus. @param {boolean} isLive */
function fieldOf(isLive) {
  const field = /** @type {HTMLInputElement} */ (/** @type {unknown} */ ({ value: '' }));
  const focus = (/** @type {boolean} */ has) => {
    globalThis.document = /** @type {any} */ ({ activeElement: has ? field : null });
  };
  focus(false);
  return { field, focus, text: typing(field, isLive) };
}

test('an answer replaces what was taken, and nothing that is being typed', () => {
  const { field, focus, text } = fieldOf(false);
  text.put('the example');
  focus(true);
  field.value = 'half a wo';
  text.put('an answer about another field');
  assert.equal(field.value, 'half a wo');
  field.value = 'half a word ';
  assert.equal(text.take(), 'half a word ');
  text.put('half a word');
  assert.equal(field.value, 'half a word');
  text.put('a button');
  assert.equal(field.value, 'a button');
});

test('a field that is taken key by key is left alone while it has the focus', () => {
  const { field, focus, text } = fieldOf(true);
  focus(true);
  field.value = 'two ';
  text.take();
  text.put('two');
  assert.equal(field.value, 'two ');
  focus(false);
  text.put('two');
  assert.equal(field.value, 'two');
});
