import assert from 'node:assert/strict';
import test from 'node:test';

import { makeSearch } from '../../../ui/inspector/beams/search.js';

/** @import { BeamEntry, SearchEntry } from '../../../decoding/run/run_document' */

const LABELS = Object.fromEntries([' a', ' b', ' c', ' d', ' e', ' f', '</s>'].map((text, id) => [id, text]));

/** @param {string} text @param {number} score @param {number} parent @param {number | null} final @returns {BeamEntry} */
const beam = (text, score, parent = 0, final = null) => ({
  id: Object.values(LABELS).indexOf(text), parent, score, step_score: -1, log_probability: score, final_score: final,
  finish_reason: final === null ? null : 'stop', group: 0,
});

/** @param {BeamEntry[]} beams @param {number} best @param {Partial<SearchEntry>} changes @returns {SearchEntry} */
const step = (beams, best, changes = {}) => ({ beams, best: { step: 0, index: best }, returned: [], dropped: [], ...changes });

/** Two beams over three steps: " a" and " b", then both go on from " b", then the second of those ends. */
const value = () => ({
  first: 4,
  since: 0,
  steps: [
    step([beam(' a', -2), beam(' b', -1)], 1),
    step([beam(' c', -3, 1), beam(' d', -2.5, 1)], 1,
      { dropped: [{ step: 0, index: 0, reason: 'outscored', row: 0, score: -2, to_beat: -1.5 }] }),
    step([beam(' e', -4, 1), beam('</s>', -3.5, 0, -1.75)], 1, { best: { step: 2, index: 1 } }),
  ],
});

test('texts are ranked by their sums, best first', () => {
  const search = makeSearch();
  search.put(value(), LABELS);
  assert.deepEqual(search.order(0), [1, 0]);
  assert.deepEqual(search.order(1), [1, 0]);
});

test('a text is read along its parents', () => {
  const search = makeSearch();
  search.put(value(), LABELS);
  assert.deepEqual(search.tokens({ step: 2, index: 0 }), [' b', ' d', ' e']);
  assert.deepEqual(search.tokens({ step: 2, index: 1 }), [' b', ' c', '</s>']);
});

test('what leads, what is still followed and what was dropped', () => {
  const search = makeSearch();
  search.put(value(), LABELS);
  assert.ok(search.leads({ step: 0, index: 1 }) && search.leads({ step: 1, index: 0 }));
  assert.ok(search.survives({ step: 1, index: 1 }) && !search.survives({ step: 0, index: 0 }));
  assert.equal(search.fate({ step: 0, index: 0 }), 'outscored: −2.00, needed −1.50');
});

test('returned texts are told by their places once the search is over', () => {
  const search = makeSearch();
  const over = value();
  over.steps[2].returned = [{ step: 2, index: 1 }, { step: 2, index: 0 }];
  search.put(over, LABELS);
  assert.equal(search.fate({ step: 2, index: 0 }), 'returned, 2nd of 2');
});

test('an update takes the index of what follows its step; one with a gap is refused', () => {
  const search = makeSearch();
  search.put(value(), LABELS);
  assert.ok(search.put({ ...value(), since: 2, steps: [step([beam(' f', -5, 0)], 0)] }, LABELS));
  assert.deepEqual(search.tokens({ step: 2, index: 0 }), [' b', ' c', ' f']);
  assert.equal(search.put({ ...value(), since: 9, steps: [] }, LABELS), false);
  assert.equal(search.length, 3);
});
