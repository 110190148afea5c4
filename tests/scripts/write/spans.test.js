import assert from 'node:assert/strict';
import test from 'node:test';

import { csv } from '../../../ui/kit/js/data.js';
import { roundUp } from '../../../ui/write/scores/curve.js';
import { comparedBitsPerByte, curveOf, indexAt, mostSurprising, scoreSheet, spansOf } from '../../../ui/write/scores/spans.js';

/** @param {number[][]} tokens bytes and bits of each @returns {any} */
const scored = (tokens, more = {}) => ({
  title: 'tiny', skipped: null, bytes: tokens.reduce((sum, [bytes]) => sum + bytes, 0),
  tokens: tokens.map(([bytes, surprise], id) => ({ id, text: `t${id}`, bytes, surprise, rank: id + 1, entropy: 1 })), ...more,
});

test('tokens stand one behind the other, behind one that is not scored', () => {
  assert.deepEqual(spansOf(scored([[2, 1], [4, 1]])), [{ from: 0, to: 2 }, { from: 2, to: 6 }]);
  assert.deepEqual(spansOf(scored([[2, 1]], { skipped: { text: 'a', bytes: 3 } })), [{ from: 3, to: 5 }]);
});

test('the parts of a character share its bytes, and a text may end with a part', () => {
  assert.deepEqual(spansOf(scored([[1, 1], [0, 1], [4, 1], [1, 1]])), [
    { from: 0, to: 1 }, { from: 1, to: 3 }, { from: 3, to: 5 }, { from: 5, to: 6 }]);
  assert.deepEqual(spansOf(scored([[1, 1], [0, 1]])), [{ from: 0, to: 1 }, { from: 1, to: 1 }]);
});

test('every place leads to its token', () => {
  const spans = spansOf(scored([[2, 1], [4, 1], [1, 1]]));
  assert.deepEqual([-1, 0, 1.9, 2, 5.9, 6, 7, 100].map((place) => indexAt(spans, place)), [0, 0, 0, 1, 1, 2, 2, 2]);
});

test('a curve averages the bits of the tokens in each part of the text', () => {
  const score = scored([[2, 4], [2, 8]]);
  const spans = spansOf(score);
  assert.deepEqual(curveOf(score, spans, 4, false), [4, 4, 8, 8]);
  assert.deepEqual(curveOf(score, spans, 1, false), [6]);
  assert.deepEqual(curveOf(score, spans, 2, true), [2, 4]);
});

test('over equal parts, bits per byte average to those of the whole text', () => {
  const score = scored([[1, 3], [5, 7], [0, 2], [3, 9], [7, 1]]);
  const curve = curveOf(score, spansOf(score), 64, true);
  const mean = curve.reduce((sum, value) => sum + value, 0) / curve.length;
  assert.ok(Math.abs(mean - 22 / 16) < 1e-12);
});

test('a text that is only scored in part has a curve in part', () => {
  const score = scored([[2, 4]], { skipped: { text: 'a', bytes: 2 }, bytes: 8 });
  assert.deepEqual(curveOf(score, spansOf(score), 4, false), [null, 4, null, null]);
});

test('a curve ends before a character that is only scored in part', () => {
  const score = scored([[1, 4], [0, 8]], { bytes: 4 });
  for (const isPerByte of [false, true]) assert.deepEqual(curveOf(score, spansOf(score), 2, isPerByte), [4, null]);
});

test('models are compared over the bytes that both have scored', () => {
  const placed = [scored([[4, 8], [4, 2], [2, 7]]), scored([[4, 6]], { skipped: { text: 'a', bytes: 2 }, bytes: 10 })].map((score) => ({ score, spans: spansOf(score) }));
  // bytes 2 to 6: half of the first token's 8 bits and half of the second's 2; all 6 bits of the other's token
  assert.deepEqual(comparedBitsPerByte(placed), [(4 + 1) / 4, 6 / 4]);
});

test('the most surprising tokens come first, the earlier of two equal ones before the other', () => {
  assert.deepEqual(mostSurprising(scored([[1, 2], [1, 5], [1, 2], [1, 9]]), 3), [3, 1, 0]);
});

test('a table numbers the tokens as they stand in the text, and no token begins a formula', () => {
  const score = scored([[1, 1], [1, 2]], { skipped: { text: 'a', bytes: 1 } });
  score.tokens[0].text = '=1+1';
  assert.deepEqual(csv(scoreSheet(score)).split('\n').slice(1), ['2,0,"""=1+1""",1,0.5,1,1', '3,1,"""t1""",2,0.25,2,1', '']);
});

test('an axis ends with a number whose half is short', () => {
  assert.deepEqual([0, 0.3, 1, 1.1, 4.2, 17.6, 51].map(roundUp), [0.1, 0.5, 1, 2, 5, 20, 100]);
});
