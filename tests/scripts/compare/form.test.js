import assert from 'node:assert/strict';
import test from 'node:test';

import { rangesOf } from '../../../ui/compare/cards/metrics.js';
import { same, summary } from '../../../ui/compare/cards/form.js';
import { sweepOf } from '../../../ui/compare/sweep.js';
import { isWithin, parseNumber } from '../../../ui/kit/js/number.js';
import { rangeText, isInvalid, readSetting } from '../../../ui/kit/js/setting.js';
import { movedStage, stageNames, stagesInOrder } from '../../../ui/settings/stages.js';

test('numbers are read as people type them', () => {
  assert.deepEqual(['0.5', ' 7 ', '−0,25', '+.5', '1e-3', '5.'].map(parseNumber), [0.5, 7, -0.25, 0.5, 0.001, 5]);
  assert.deepEqual(['', '-', 'abc', '1,2,3', '0x10', '1 2', 'Infinity'].map(parseNumber), Array(7).fill(null));
  assert.equal(parseNumber('1e999'), Infinity);
});

test('a range has both its ends, and whole numbers where it says so', () => {
  const range = { minimum: 0, maximum: 2, integer: false };
  assert.deepEqual([-0.1, 0, 1.5, 2, 2.1, null, '1'].map((value) => isWithin(value, range)),
    [false, true, true, true, false, false, false]);
  assert.deepEqual([1, 1.5].map((value) => isWithin(value, { ...range, integer: true })), [true, false]);
});

test('an order that names some stages leaves the others where they stand', () => {
  const all = ['temperature', 'top_k', 'top_p', 'min_p'];
  assert.deepEqual(stagesInOrder(all, 'min_p, top_k'), ['temperature', 'min_p', 'top_p', 'top_k']);
  assert.deepEqual(stagesInOrder(all, 'top_p, nonsense, top_p'), all);
  assert.deepEqual(stageNames(' top_k ,top_p'), ['top_k', 'top_p']);
});

test('a stage changes places with its neighbour among those that are on', () => {
  assert.deepEqual(movedStage(['a', 'b', 'c', 'd'], ['a', 'c', 'd'], 'c', -1), ['c', 'b', 'a', 'd']);
  assert.deepEqual(movedStage(['a', 'b', 'c', 'd'], ['a', 'd'], 'a', 1), ['d', 'b', 'c', 'a']);
});

/** @param {string} name @param {object} changes @returns {any} */
const parameter = (name, changes = {}) => ({
  name, label: name, kind: 'number', strategies: ['sample', 'greedy'], neutral: null, default: 1, panel: false, choices: [], ...changes,
});
const OFFERED = {
  parameters: [
    parameter('strategy', { kind: 'word', default: 'sample', choices: [['sample', 'Sampling'], ['greedy', 'Greedy']] }), parameter('heat', { neutral: 1, strategies: ['sample'] }),
    parameter('length', { panel: true }),
  ],
};

test('a card is named by what sets it apart, and by its method only where the methods differ', () => {
  const [plain, hot, changed] = [{}, { heat: 1.5 }, { strategy: 'greedy', length: 7 }];
  assert.deepEqual(summary(OFFERED, hot, [hot, plain]), { name: ['heat 1.5'], others: ['Sampling'] });
  assert.deepEqual(summary(OFFERED, plain, [plain, hot]), { name: ['heat 1'], others: ['Sampling'] });
  assert.deepEqual(summary(OFFERED, changed, [changed, hot]), { name: ['Greedy', 'length 7'], others: [] }); // unused settings are left out
  assert.deepEqual(summary(OFFERED, hot, [changed, hot]), { name: ['Sampling'], others: ['heat 1.5'] });
});

test('cards that equal all others have no name', () => {
  const hot = { heat: 1.5, length: 7 };
  assert.deepEqual(summary(OFFERED, hot, [hot, { ...hot }]), { name: [], others: ['Sampling', 'heat 1.5', 'length 7'] });
});

test('a length of its own sets a card apart, even where it is the usual one', () => {
  assert.deepEqual(summary(OFFERED, { length: 1 }, [{ length: 1 }, {}]), { name: ['length 1'], others: ['Sampling'] });
});

test('a card names a filter that is off only where nothing else has an effect', () => {
  const offered = { parameters: [...OFFERED.parameters, parameter('limit', { neutral: 0, default: 0, strategies: ['sample'] })] };
  const all = [{ heat: 1.5 }, { limit: 5 }, {}];
  assert.deepEqual(all.map((card) => summary(offered, card, all).name), [['heat 1.5'], ['limit 5'], ['heat 1', 'limit 0']]);
});

test('what is typed is a number where there should be one, and a text as it stands elsewhere', () => {
  const [beams, words] = [parameter('beams', { minimum: 1, maximum: 8, integer: true }), parameter('words', { kind: 'text' })];
  const typed = ['4', '2.5', '9', 'many', ''];
  assert.deepEqual(typed.map((text) => readSetting(beams, text)), [4, 2.5, 9, null, null]);
  assert.deepEqual(typed.map((text) => isInvalid(beams, readSetting(beams, text))), [false, true, true, true, true]);
  assert.equal(rangeText(beams), 'a whole number from 1 to 8');
  assert.deepEqual(typed.map((text) => readSetting(words, text)), typed);
  assert.ok(typed.every((text) => !isInvalid(words, text)));
});

test('a card calls a word of its settings by its label, and never a text that is spelled like one', () => {
  const stop = parameter('stop', { kind: 'text', default: '' });
  const offered = { parameters: [OFFERED.parameters[0], stop] };
  assert.deepEqual(summary(offered, { stop: 'greedy' }, [{ stop: 'greedy' }, {}]).name, ['stop greedy']);
});

test('settings are the same by what they hold', () => {
  assert.ok(same({ heat: 1 }, { heat: 1 }) && !same({ heat: 1 }, { heat: 2 }));
});

test('a number has a range where the cards differ', () => {
  assert.deepEqual(rangesOf([[1, 5, null], [3, 5, 2]]), [{ low: 1, high: 3 }, null, null]);
  assert.deepEqual(rangesOf([]), []);
});

test('a sweep of own values has a card for each, under a strategy that uses the setting', () => {
  const offered = { ...OFFERED, fewest: 2, most: 3 };
  const heat = parameter('heat', { minimum: 0, maximum: 2, integer: false, strategies: ['sample'] });
  const beams = { ...heat, name: 'beams', strategies: ['beam'], default: 4 };
  assert.deepEqual(sweepOf(offered, heat, ' 0.5,1;  1.5 '), { cards: [{ heat: 0.5 }, {}, { heat: 1.5 }] });
  assert.deepEqual(sweepOf(offered, beams, '1 2'), { cards: [{ strategy: 'beam', beams: 1 }, { strategy: 'beam', beams: 2 }] });
  for (const text of ['', '1', '1,2,1,2', '1, 3', '1, hot']) assert.ok('wrong' in sweepOf(offered, heat, text));
});
