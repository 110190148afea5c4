import assert from 'node:assert/strict';
import test from 'node:test';

import { AVERAGE, makeAttention, strongest, withoutSinks } from '../../../ui/inspector/attention/attention.js';

/** @param {...number} bytes */
const packed = (...bytes) => btoa(String.fromCharCode(...bytes));

/** @param {ArrayLike<number> | null} weights */
const rounded = (weights) => Array.from(weights ?? [], (weight) => Number(weight.toFixed(4)));

test('a byte is the root of a weight, so 3 : 4 are weights of 9 : 16', () => {
  const attention = makeAttention();
  attention.put([packed(3, 4)], 1, [1, 1]);
  assert.deepEqual(rounded(attention.weights(1, 0, 0)), [9 / 25, 16 / 25]);
});

test('heads are averaged after squaring: (1, 0) and (3, 4) of 25 give (1 + 9) : 16', () => {
  const attention = makeAttention();
  attention.put([packed(1, 0, 3, 4)], 1, [1, 2]);
  assert.deepEqual(rounded(attention.weights(1, 0, AVERAGE)), [0.3846, 0.6154]); // 10 / 26 and 16 / 26
});

test('of several keys none has all, whatever its byte is', () => {
  const attention = makeAttention();
  attention.put([packed(255), packed(255, 0)], 0, [1, 1]);
  assert.deepEqual(Array.from(attention.weights(0, 0, 0) ?? []), [1]);
  assert.ok((attention.weights(1, 0, 0)?.[0] ?? 1) < 1);
});

test('one head of one layer is found among all: layer 1, head 0 of (2, 2, 1)', () => {
  const attention = makeAttention(() => 1);
  attention.put([packed(10, 20, 30, 40)], 0, [2, 2]);
  assert.deepEqual(rounded(attention.weights(0, 1, 0)), [1]);
});

test('a key was attended to by the passes after it: 9 of 25 and 16 of 16 + 9 + 0', () => {
  const attention = makeAttention();
  attention.put([packed(3, 4), packed(4, 3, 0)], 1, [1, 1]);
  assert.deepEqual(rounded(attention.received(0, 0, 0)), [0, 0.36, 0.64]);
  assert.deepEqual(rounded(attention.received(2, 0, 0)), [0, 0, 0]);
  assert.equal(attention.received(3, 0, 0), null);
});

test('a source is attended to by cross-attention', () => {
  const attention = makeAttention();
  attention.put([packed(3, 4, 5)], 2, [1, 1], 2);
  assert.deepEqual(rounded(attention.received(0, 0, 0)), [0, 0, 0.36]);
  assert.deepEqual(rounded(attention.received(2, 0, 0)), [0, 0, 1]);
});

test('a row of another shape is no row', () => {
  const attention = makeAttention();
  attention.put([packed(1, 2, 3)], 1, [1, 1]);
  assert.equal(attention.weights(1, 0, 0), null);
});

test('a row that is not base64, or of an impossible model, is no row', () => {
  const attention = makeAttention();
  attention.put(['%', packed(3, 4)], 0, [1, 1]);
  assert.deepEqual([attention.weights(0, 0, 0), rounded(attention.weights(1, 0, 0))], [null, [9 / 25, 16 / 25]]);
  attention.put([''], 0, [2 ** 31, 0]);
  assert.deepEqual([attention.layers, attention.heads], [0, 0]); // so that nobody offers two thousand million layers
});

test('what is cut off is forgotten, and another model forgets all', () => {
  const attention = makeAttention();
  attention.put([packed(1), packed(1, 2), packed(1, 2, 3)], 0, [1, 1]);
  attention.cut(2);
  assert.equal(attention.end, 2);
  attention.keep(1, 2);
  assert.equal(attention.first, 1);
  attention.put([], 0, [2, 1]);
  assert.deepEqual([attention.end, attention.first], [0, -1]);
});

test('without the sink the others share all of it', () => {
  assert.deepEqual(rounded(withoutSinks(Float32Array.of(0.5, 0.125, 0.375), (key) => key === 0)), [0, 0.25, 0.75]);
});

test('without a sink that has everything nothing is left', () => {
  assert.deepEqual(rounded(withoutSinks(Float32Array.of(1, 0), (key) => key === 0)), [0, 0]);
});

test('the strongest come first, and those with no weight not at all', () => {
  assert.deepEqual(strongest(Float32Array.of(0.25, 0, 0.75), 5), [{ key: 2, weight: 0.75 }, { key: 0, weight: 0.25 }]);
  assert.deepEqual(strongest(Float32Array.of(0.25, 0, 0.75), 1), [{ key: 2, weight: 0.75 }]);
});

test('cross-attention and self-attention each sum to 1: (3, 4) of 25 to the source, all to the one token so far', () => {
  const attention = makeAttention();
  attention.put([packed(3, 4, 7)], 2, [1, 1], 2);
  assert.deepEqual(rounded(attention.weights(2, 0, 0, 'cross')), [9 / 25, 16 / 25, 0]);
  assert.deepEqual(rounded(attention.weights(2, 0, 0, 'self')), [0, 0, 1]);
});
