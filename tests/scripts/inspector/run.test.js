import assert from 'node:assert/strict';
import test from 'node:test';

import { Run } from '../../../ui/inspector/run.js';

/** @param {object} changes @returns {any} an update of a run without attention or beams */
const update = (changes) => ({
  run: 'write-1', since: 0, tokens: [], steps: [], search: null, rows: [], rows_from: 0, layers: 0, heads: 0, source: 0, ...changes,
});
const token = (text, kind = 'chosen') => [text, kind, 0.5];

/** A prompt of one token, and two that were generated. */
function newRun() {
  const run = new Run();
  run.begin('write-1');
  run.first = 1;
  run.merge(update({ tokens: [token('Once', 'given'), token(' upon'), token(' a')], steps: [{ rank: 1 }, { rank: 2 }] }));
  return run;
}

test('an update replaces what comes from its first token on', () => {
  const run = newRun();
  run.merge(update({ since: 2, tokens: [token(' the'), token(' hill')], steps: [{ rank: 3 }, { rank: 4 }] }));
  assert.deepEqual(run.tokens.map(([text]) => text), ['Once', ' upon', ' the', ' hill']);
  assert.deepEqual(Array.from(run.steps, (step) => step?.rank), [undefined, 1, 3, 4]);
});

test('an update after a lost one changes nothing and is noticed', () => {
  const run = newRun();
  run.merge(update({ since: 7, tokens: [token(' there')] }));
  assert.deepEqual([run.isMissingTokens, run.tokens.length], [true, 3]);
  run.begin('write-2');
  assert.deepEqual([run.isMissingTokens, run.tokens], [false, []]);
});

test('the newest token is the last one with a text', () => {
  const run = newRun();
  run.merge(update({ since: 3, tokens: [token('<|end|>', 'control')] }));
  assert.equal(run.newest, 2);
  assert.deepEqual([0, 1, 3].map((index) => run.positionOf(index)), ['Prompt token 1 of 1', 'Token 1 of 3', 'Token 3 of 3']);
});
