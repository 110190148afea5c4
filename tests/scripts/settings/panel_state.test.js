import assert from 'node:assert/strict';
import test from 'node:test';

import { PanelState } from '../../../ui/settings/panel_state.js';
import { previewOf } from '../../../ui/settings/preview.js';

/** @param {string} name @param {object} changes @returns {any} */
const number = (name, changes = {}) => ({
  name, label: name, kind: 'number', group: 'plain', minimum: 0, maximum: 10, integer: false, strategies: ['sample'], neutral: 0,
  longest: null, ...changes,
});

const FIRST = { strategy: 'sample', temperature: 1, top_k: 0, length: 64, seed: -1, order: 'temperature, top_k' };

/** @returns {any} a form with three methods and two filters */
const form = () => ({
  parameters: [
    { name: 'strategy', label: 'strategy', kind: 'word', group: 'advanced', strategies: ['sample', 'greedy'], neutral: null, longest: null },
    number('temperature', { neutral: 1 }), number('top_k'),
    number('length', { group: 'run', strategies: ['sample', 'greedy'], longest: 512, maximum: 512 }), number('seed', { group: 'run', minimum: -1 }),
  ],
  methods: {
    Custom: { strategy: null, shows: null, starts: {} },
    Greedy: { strategy: 'greedy', shows: [], starts: {} },
    'Top-k': { strategy: 'sample', shows: ['top_k', 'length', 'seed'], starts: { top_k: 5 } },
  },
  first: { method: 'Custom', values: FIRST },
  samplers: ['temperature', 'top_k'],
  stages: { temperature: ['temperature'], top_k: ['top_k'] },
  chains: { sample: ['temperature', 'top_k'], greedy: [] },
  labels: { temperature: 'Temperature', top_k: 'Top-k' },
  zero_temperature: 0.01,
});

const newState = () => new PanelState(form(), () => {});

test('a filter has an effect where it is in sight and not neutral', () => {
  const state = newState();
  assert.deepEqual(state.stagesOn(), []);
  state.change({ top_k: 4, temperature: 0.5 });
  assert.deepEqual(state.stagesOn(), ['temperature', 'top_k']);
  state.moveStage('top_k', -1);
  assert.deepEqual(state.stagesOn(), ['top_k', 'temperature']);
  state.chooseMethod('Top-k');
  assert.deepEqual(state.stagesOn(), ['top_k']); // the temperature is out of sight
});

test('a method brings its values and takes them away again', () => {
  const state = newState();
  state.chooseMethod('Top-k');
  assert.equal(state.values.top_k, 5);
  state.chooseMethod('Greedy');
  assert.deepEqual([state.values.top_k, state.strategy], [0, 'greedy']);
});

test('filters that are turned off can be restored until one is changed', () => {
  const state = newState();
  state.change({ top_k: 4, temperature: 0.5 });
  state.toggleFilters();
  assert.deepEqual([state.isOff, state.canRestore, state.values.top_k], [true, true, 0]);
  state.toggleFilters();
  assert.deepEqual([state.values.temperature, state.values.top_k, state.canRestore], [0.5, 4, false]);
  state.toggleFilters();
  state.change({ top_k: 7 });
  assert.equal(state.canRestore, false);
});

test('a model brings its method, and what was chosen in its place comes back with it', () => {
  const state = newState();
  state.followModel('translator', 'Greedy');
  assert.equal(state.method, 'Greedy');
  state.chooseMethod('Top-k');
  state.followModel('chat', 'Custom');
  assert.equal(state.method, 'Custom');
  state.followModel('translator', 'Greedy');
  assert.equal(state.method, 'Top-k');
});

test('a method keeps its own value, and the others keep the one they share', () => {
  const state = newState();
  state.change({ top_k: 3 });
  state.chooseMethod('Top-k');
  state.change({ top_k: 7 });
  state.change({ top_k: 2, temperature: 0.5 }, 'Custom'); // a preset
  assert.deepEqual([state.values.top_k, state.startOf('top_k')], [2, 0]);
  state.chooseMethod('Top-k');
  assert.deepEqual([state.values.top_k, state.startOf('top_k')], [7, 5]);
  state.change({ top_k: null }); // emptied
  state.chooseMethod('Custom');
  state.toggleFilters();
  state.chooseMethod('Top-k');
  assert.deepEqual([state.values.top_k, state.isOff], [null, true]);
  state.chooseMethod('Custom');
  state.toggleFilters();
  assert.deepEqual([state.values.top_k, state.values.temperature], [2, 0.5]);
});

test('the page begins with the own values of its method', () => {
  const state = new PanelState({ ...form(), first: { method: 'Top-k', values: FIRST } }, () => {});
  assert.deepEqual([state.values.top_k, state.isOff], [5, true]);
  assert.deepEqual(['temperature', 'top_k', 'seed', 'strategy'].map((name) => state.isBeyondFirst(name)), [true, false, false, true]);
  state.chooseMethod('Custom');
  assert.equal(state.values.top_k, 0);
});

test('the method of a link belongs to the model that it names', () => {
  const state = newState();
  state.openWith('Top-k', 'translator');
  state.followModel('translator', 'Greedy');
  assert.equal(state.method, 'Top-k');
  state.followModel('chat', 'Custom');
  assert.equal(state.method, 'Custom');
});

test('what a link needs a method for does not depend on the model, which is chosen after the link is read', () => {
  const state = new PanelState({ ...form(), first: { method: 'Greedy', values: FIRST } }, () => {});
  const before = state.isBeyondFirst('top_k');
  state.followModel('chat', 'Top-k');
  assert.deepEqual([before, state.isBeyondFirst('top_k')], [true, true]);
});

test('lengths end at the context of the model', () => {
  const state = newState();
  state.change({ length: 400 });
  state.limitLengths(128);
  assert.deepEqual([state.values.length, state.startOf('length')], [128, 64]);
  state.limitLengths(32);
  assert.equal(state.startOf('length'), 32);
  state.change({ length: 33 });
  assert.deepEqual(state.invalid().map(({ name }) => name), ['length']);
});

test('a length that was too long for a model comes back with a longer context, unless it was changed', () => {
  const state = newState();
  state.change({ length: 400 });
  const lengthsIn = (...contexts) => contexts.map((context) => {
    state.limitLengths(context);
    return state.values.length;
  });
  assert.deepEqual(lengthsIn(128, 64, 512, 128), [128, 64, 400, 128]);
  state.change({ length: 100 });
  assert.deepEqual(lengthsIn(512), [100]);
});

test('in Compare all settings of a run are in sight, and there is no preview', () => {
  const state = newState();
  state.chooseMethod('Greedy');
  assert.equal(state.isShown('seed'), false);
  state.isComparing = true;
  assert.deepEqual([state.isShown('seed'), previewOf(form(), state)], [true, null]);
});

test('the preview shows the filters of one step, and greedy decoding at temperature 0', () => {
  const state = new PanelState({ ...form(), parameters: [...form().parameters, number('mirostat_mode'), number('dynatemp_range')] }, () => {});
  Object.assign(state.values, { mirostat_mode: 0, dynatemp_range: 0, top_k: 3, temperature: 0.5 });
  const [heat, top] = [{ stage: 'temperature', value: 0.5 }, { stage: 'top_k', value: 3 }];
  assert.deepEqual(previewOf(form(), state), { filters: [heat, top], leftOut: [] });
  state.change({ dynatemp_range: 0.2 });
  assert.deepEqual(previewOf(form(), state), { filters: [top], leftOut: ['Temperature'] });
  state.change({ temperature: 0 });
  assert.deepEqual(previewOf(form(), state), { filters: [{ stage: 'greedy', value: 1 }], leftOut: [] });
  state.change({ top_k: 11, temperature: 1 });
  assert.equal(previewOf(form(), state), null); // of what would be refused
});
