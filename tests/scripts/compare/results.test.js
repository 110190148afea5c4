import assert from 'node:assert/strict';
import test from 'node:test';

import { Results } from '../../../ui/compare/results/results.js';

/** @returns {any} a card that has not been run */
const card = (settings = {}) => ({ settings, run: null, sent: null });
/** @returns {any} what the server says of a card's run */
const update = (run, since, ...words) => ({ run, since, tokens: words.map((text) => ({ text, probability: 0.5 })), state: 'streaming' });
const NOW = { prompt: 'p', seed: -1, settings: {} };

test('a card grows by what is new, and a lost update is seen', () => {
  const [results, one] = [new Results(), card()];
  results.submit([one], { prompt: 'p', seed: -1, cards: [{}] });
  assert.ok(results.put('comparison-1', [update('a', 0, 'The', ' cat')]));
  assert.ok(results.put('comparison-1', [update('a', 1, ' dog', ' sat')]));
  assert.deepEqual(results.of(one).tokens.map(({ text }) => text), ['The', ' dog', ' sat']);
  assert.ok(!results.put('comparison-1', [update('a', 5, ' there')]));
});

test('another comparison takes the place of the one before, of cards that are no longer there as well', () => {
  const [results, one, two] = [new Results(), card(), card()];
  results.submit([one, two], { prompt: 'p', seed: 3, cards: [{}, {}] });
  results.put('comparison-1', [update('a', 0, 'x'), update('b', 0, 'y')]);
  results.submit([one], { prompt: 'p', seed: 3, cards: [{}] });
  results.put('comparison-2', [update('c', 0, 'z')]);
  assert.deepEqual([results.of(one).run, results.of(two)], ['c', null]);
});

test('a text is old once its prompt, its settings or a chosen seed have changed', () => {
  const [results, one] = [new Results(), card()];
  const old = (now = {}) => results.staleness(one, { ...NOW, ...now });
  assert.equal(old({ prompt: 'q' }), ''); // it was never run
  results.submit([one], { prompt: 'p', seed: -1, cards: [{ length: 8 }] });
  results.put('comparison-1', [update('a', 0, 'x')]);
  const same = { settings: { length: 8 } };
  assert.deepEqual([old(same), old({ ...same, seed: 5 }), old({ ...same, prompt: 'q' }), old()],
    ['', '', 'Prompt changed', 'Settings changed']);
  results.submit([one], { prompt: 'p', seed: 5, cards: [{ length: 8 }] });
  results.put('comparison-2', [update('b', 0, 'x')]);
  assert.deepEqual([old({ ...same, seed: 5 }), old({ ...same, seed: 6 })], ['', 'Settings changed']);
});

test('only runs of the server are named to it as forgotten', () => {
  const [results, one, example, unused] = [new Results(), card(), card(), card()];
  results.submit([one, example], { prompt: 'p', seed: -1, cards: [{}, {}] });
  results.put('comparison-1', [update('a', 0, 'x'), update('example-compare-1', 0, 'y')]);
  assert.deepEqual(results.forget([one, example, unused]), ['a']);
  assert.ok(results.isEmpty);
});

test('a card that is put back has the text, and what it was written from', () => {
  const [results, one] = [new Results(), card()];
  results.submit([one], { prompt: 'p', seed: -1, cards: [{ length: 8 }] });
  results.put('comparison-1', [update('a', 0, 'x')]);
  const before = { run: one.run, sent: one.sent, result: results.of(one) };
  results.forget([one]);
  assert.equal(results.of(one), null);
  results.restore(one, before);
  assert.deepEqual([one.run, one.sent, results.of(one).tokens.map(({ text }) => text)], ['a', { length: 8 }, ['x']]);
});

test('what was sent is awaited until its first results come, in whatever order its settings are named', () => {
  const [results, one] = [new Results(), card()];
  const sent = { prompt: 'p', seed: -1, cards: [{ length: 8, top_k: 5 }] };
  assert.ok(!results.awaits(sent));
  results.submit([one], sent);
  assert.ok(results.awaits({ ...sent, cards: [{ top_k: 5, length: 8 }] }));
  assert.ok(!results.awaits({ ...sent, prompt: 'q' }) && !results.awaits({ ...sent, cards: [{ length: 8 }] }));
  results.put('comparison-1', [update('a', 0, 'x')]);
  assert.ok(!results.awaits(sent));
});
