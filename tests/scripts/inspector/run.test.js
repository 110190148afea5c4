import assert from 'node:assert/strict';
import test from 'node:test';

import { Run } from '../../../ui/inspector/run.js';

/** @param {object} changes @returns {any} an update of a run without attention or beams */
const update = (changes) => ({
  run: 'write-1', since: 0, ids: [], kinds: [], probabilities: [], labels: {}, steps: [], search: null, rows: [], rows_from: 0, layers: 0, heads: 0, source: 0, ...changes,
});
/** @param {[text: string, kind?: string][]} listed @returns {object} their columns */
const tokens = (...listed) => ({
  ids: listed.map((_, id) => id), kinds: listed.map(([, kind = 'generated']) => kind), probabilities: listed.map(() => 0.5),
  labels: Object.fromEntries(listed.map(([text], id) => [id, text])),
});
/** @param {number} rank @returns {object} */
const step = (rank) => ({ rank, stages: [], candidates: [] });

/** A prompt of one token, and two that were generated. */
function newRun() {
  const run = new Run();
  run.begin('write-1');
  run.first = 1;
  run.merge(update({ ...tokens(['Once', 'prompt'], [' upon'], [' a']), steps: [step(1), step(2)] }));
  return run;
}

test('an update replaces what comes from its first token on', () => {
  const run = newRun();
  run.merge(update({ since: 2, ...tokens([' the'], [' hill']), steps: [step(3), step(4)] }));
  assert.deepEqual(run.tokens.map(({ text }) => text), ['Once', ' upon', ' the', ' hill']);
  assert.deepEqual(Array.from(run.steps, (one) => one?.rank), [undefined, 1, 3, 4]);
});

test('an update after a lost one changes nothing and is noticed', () => {
  const run = newRun();
  run.merge(update({ since: 7, ...tokens([' there']) }));
  assert.deepEqual([run.isMissingTokens, run.tokens.length], [true, 3]);
  run.begin('write-2');
  assert.deepEqual([run.isMissingTokens, run.tokens], [false, []]);
});

test('a step has the settings of the continuation that chose it, until the text is changed', () => {
  const run = newRun();
  run.merge(update({ ...tokens(['Once', 'prompt'], [' upon'], [' a']), steps: [step(1), step(2)], settings: { top_k: 4 }, settings_from: 2 }));
  run.merge(update({ since: 3, ...tokens([' hill']), steps: [step(3)] }));
  assert.deepEqual(run.steps.slice(1).map((each) => run.settingsOf(each)), [null, { top_k: 4 }, { top_k: 4 }]);
  assert.equal(run.settingsOf(/** @type {any} */ (step(3))), null); // another run's
  run.rename('write-2');
  assert.equal(run.settingsOf(run.steps[3]), null);
});

test('the newest token is the last one with a text', () => {
  const run = newRun();
  run.merge(update({ since: 3, ...tokens(['<|end|>', 'control']) }));
  assert.equal(run.newest, 2);
  assert.deepEqual([0, 1, 3].map((index) => run.positionOf(index)), ['Prompt token 1 of 1', 'Token 1 of 3', 'Token 3 of 3']);
});

test('typed tokens that have steps, as in Write, are counted as the prompt', () => {
  const run = newRun();
  run.merge(update({ ...tokens(['<s>', 'control'], ['Once', 'prompt'], [' upon', 'prompt'], [' a'], [' hill']), steps: [1, 2, 3, 4].map(step) }));
  assert.deepEqual([1, 2, 3, 4].map((index) => run.positionOf(index)), ['Prompt token 2 of 3', 'Prompt token 3 of 3', 'Token 1 of 2', 'Token 2 of 2']);
  run.merge(update({ ...tokens(['<s>', 'control'], ['Once', 'prompt']), steps: [step(1)] }));
  assert.equal(run.positionOf(1), 'Prompt token 2 of 2');
});

test('an end that was asked for is the newest token, until the text changes', () => {
  const run = newRun();
  run.merge(update({ since: 3, ...tokens(['<|end|>', 'control']), newest: 3 }));
  assert.equal(run.newest, 3);
  run.rename('write-2');
  run.merge(update({ since: 3, ...tokens([' hill'], ['<|end|>', 'control']) }));
  assert.equal(run.newest, 3);
  run.merge(update({ since: 4, ...tokens([' and']), newest: 4 }));
  run.begin('write-3');
  run.merge(update({ ...tokens(['Once', 'prompt'], [' upon'], ['<|end|>', 'control']) }));
  assert.equal(run.newest, 1);
});
