import assert from 'node:assert/strict';
import test from 'node:test';

import { fitting, level, percent, signed, stageLabels, stageName } from '../../../ui/kit/js/text.js';

test('percentages never show a 0 or a 100 that is none', () => {
  const written = (/** @type {number | undefined} */ digits) => [0, 0.00001, 0.25, 0.99999, 1].map((p) => percent(p, digits));
  assert.deepEqual(written(undefined), ['0\u00a0%', '<0.01\u00a0%', '25.00\u00a0%', '>99.99\u00a0%', '100.00\u00a0%']);
  assert.deepEqual(written(0), ['0\u00a0%', '<1\u00a0%', '25\u00a0%', '>99\u00a0%', '100\u00a0%']);
});

test('shades go by the square root, in eleven steps', () => {
  assert.deepEqual([-1, 0, 0.01, 0.25, 1, 2].map(level), [0, 0, 1, 5, 10, 10]);
});

test('filters are called as people call them', () => {
  const labels = { top_k: 'Top-k', top_h: 'Top-H', dola: 'DoLa', dry: 'DRY', suppress_tokens: 'Reserved tokens' };
  for (const [stage, label] of Object.entries(labels)) stageLabels.set(stage, label);
  assert.deepEqual(['top_k', 'top_h', 'dola', 'dry', 'suppress_tokens', 'model', 'of_another_version'].map(stageName),
    ['top-k', 'top-H', 'DoLa', 'DRY', 'reserved tokens', 'model', 'of another version']);
});

test('a negative number has the minus of the page', () => {
  assert.equal(signed('-1e-5'), '−1e−5');
});

test('a name that does not fit is cut, with what it lacks in sight', () => {
  const upTo = (/** @type {number} */ most) => (/** @type {string} */ text) => [...text].length <= most;
  assert.deepEqual([9, 8, 3, 1].map((most) => fitting('encourage', upTo(most))), ['encourage', 'encoura…', 'en…', 'e…']);
  assert.equal(fitting('🦊🐺🦁', upTo(2)), '🦊…'); // no half characters
});
