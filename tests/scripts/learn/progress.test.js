import assert from 'node:assert/strict';
import test from 'node:test';

import { isSolved, markSolved, solvedCount, tidySolved } from '../../../ui/learn/exercises/progress.js';

/** @type {Map<string, string>} */
const stored = new Map();
globalThis.localStorage = /** @type {any} */ ({
  getItem: (/** @type {string} */ key) => stored.get(key) ?? null,
  setItem: (/** @type {string} */ key, /** @type {string} */ value) => stored.set(key, value),
});
const EXERCISES = [{ name: 'bytes', question: 'How many bytes?' }, { name: 'ids', question: 'Which id?' }];

test('an exercise is solved once, whatever its words become', () => {
  markSolved('tokens', 'ids');
  markSolved('tokens', 'ids');
  assert.deepEqual([isSolved('tokens', 'ids'), isSolved('tokens', 'bytes'), solvedCount('tokens')], [true, false, 1]);
  tidySolved('tokens', [EXERCISES[0], { name: 'ids', question: 'Which id has it?' }]);
  assert.equal(solvedCount('tokens'), 1);
});

test('what is no longer asked is not counted, and what was kept by its question is known by its name', () => {
  stored.set('attend-solved-heads', JSON.stringify(['How many bytes?', 'A question of long ago?', 'ids', 'gone']));
  tidySolved('heads', EXERCISES);
  assert.deepEqual([solvedCount('heads'), isSolved('heads', 'bytes'), isSolved('heads', 'ids')], [2, true, true]);
  tidySolved('block', EXERCISES);
  assert.deepEqual([solvedCount('block'), stored.has('attend-solved-block')], [0, false]);
});
