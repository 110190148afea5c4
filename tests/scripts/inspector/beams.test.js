import assert from 'node:assert/strict';
import test from 'node:test';

import { makeSearch } from '../../../ui/inspector/beams/search.js';

/** @import { BeamRecord, SearchValue } from '../../../ui/inspector/inspector_contract' */

/** @param {string} token @param {number} sum @param {number} parent @param {number | null} final @returns {BeamRecord} */
const beam = (token, sum, parent = 0, final = null) => [token, -1, sum, sum, parent, final];

/**
 * Two beams over three steps: " a" and " b", then both go on from " b", then the second of those ends.
 * @returns {SearchValue}
 */
const value = () => ({
  first: 4,
  since: 0,
  steps: [
    [beam(' a', -2), beam(' b', -1)],
    [beam(' c', -3, 1), beam(' d', -2.5, 1)],
    [beam(' e', -4, 1), beam('</s>', -3.5, 0, -1.75)],
  ],
  dropped: [[0, 0, 'outscored', -2, -1.5]],
  best: [2, 1],
  over: false,
  returned: [],
});

test('texts are ranked by their sums, best first', () => {
  const search = makeSearch();
  search.put(value());
  assert.deepEqual(search.order(0), [1, 0]);
  assert.deepEqual(search.order(1), [1, 0]);
});

test('a text is read along its parents', () => {
  const search = makeSearch();
  search.put(value());
  assert.deepEqual(search.tokens({ step: 2, index: 0 }), [' b', ' d', ' e']);
  assert.deepEqual(search.tokens({ step: 2, index: 1 }), [' b', ' c', '</s>']);
});

test('what leads, what is still followed and what was dropped', () => {
  const search = makeSearch();
  search.put(value());
  assert.ok(search.leads({ step: 0, index: 1 }) && search.leads({ step: 1, index: 0 }));
  assert.ok(search.survives({ step: 1, index: 1 }) && !search.survives({ step: 0, index: 0 }));
  assert.equal(search.fate({ step: 0, index: 0 }), 'outscored: −2.00, needed −1.50');
});

test('returned texts are told by their places once the search is over', () => {
  const search = makeSearch();
  search.put({ ...value(), over: true, returned: [[2, 1], [2, 0]] });
  assert.equal(search.fate({ step: 2, index: 0 }), 'returned, 2nd of 2');
});

test('an update takes the index of what follows its step; one with a gap is refused', () => {
  const search = makeSearch();
  search.put(value());
  assert.ok(search.put({ ...value(), since: 2, steps: [[beam(' f', -5, 0)]], dropped: [], best: [2, 0] }));
  assert.deepEqual(search.tokens({ step: 2, index: 0 }), [' b', ' c', ' f']);
  assert.equal(search.put({ ...value(), since: 9, steps: [] }), false);
  assert.equal(search.length, 3);
});
