import assert from 'node:assert/strict';
import test from 'node:test';

import { PanelState } from '../../../ui/settings/panel_state.js';
import { previewOf } from '../../../ui/settings/preview.js';

/** @param {string} name @param {object} changes @returns {any} */
const number = (name, changes = {}) => ({
  name, label: name, kind: 'number', group: 'plain', minimum: 0, maximum: 10, integer: false, strategies: ['sample'], neutral: 0,
  longest: null, default: 0, ...changes,
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

/** Two kinds of models, and what the page says of them. */
const CHAT = { name: 'chat', context: 512, method: 'Custom' }, TRANSLATOR = { name: 'translator', context: 128, method: 'Greedy' };

/** The method and the length that a model comes with. @param {PanelState} state @param {typeof CHAT} model */
function used(state, model) {
  state.followModel(model);
  return [state.method, state.values.length];
}

test('each kind of model has its own settings, which come back with it', () => {
  const state = newState();
  state.followModel(CHAT);
  state.change({ length: 400 }, 'Top-k');
  assert.deepEqual(used(state, TRANSLATOR), ['Greedy', 64]); // nothing is carried over
  state.change({ length: 100 }, 'Top-k');
  assert.deepEqual(used(state, CHAT), ['Top-k', 400]);
  state.chooseMethod('Custom');
  assert.deepEqual(used(state, TRANSLATOR), ['Top-k', 100]);
  assert.deepEqual(used(state, CHAT), ['Custom', 400]);
  assert.deepEqual([state.all.Custom.method, state.all.Greedy.values.length], ['Custom', 100]);
});

test('after a reload the address has the settings of one kind, and those of the others come back, too', () => {
  const before = newState();
  before.followModel(CHAT);
  before.change({ length: 400, temperature: 0.5 });
  before.followModel(TRANSLATOR);
  before.change({ length: 100 }, 'Top-k');

  const inTranslate = newState();
  inTranslate.restore(before.all);
  inTranslate.open({ method: 'Top-k', values: { length: 100 } }, { usual: 'Greedy', model: 'translator' });
  assert.equal(inTranslate.isAwaiting, true);
  assert.deepEqual(used(inTranslate, CHAT), ['Custom', 400]); // the page begins with its first model
  assert.deepEqual([inTranslate.values.temperature, inTranslate.isAwaiting], [0.5, true]);
  assert.deepEqual(used(inTranslate, TRANSLATOR), ['Top-k', 100]);
  assert.equal(inTranslate.isAwaiting, false);
  assert.deepEqual(used(inTranslate, CHAT), ['Custom', 400]);

  const inChat = newState();
  inChat.restore(before.all);
  inChat.open({ method: null, values: { length: 300 } }, { usual: 'Custom', model: null });
  assert.deepEqual(used(inChat, CHAT), ['Custom', 300]); // the address counts
  assert.equal(inChat.values.temperature, 1);
  assert.deepEqual(used(inChat, TRANSLATOR), ['Top-k', 100]);

  const left = newState();
  left.open({ method: null, values: {} }, { usual: 'Greedy', model: null });
  left.change({ seed: 3 }); // its model may never come
  assert.equal(left.isAwaiting, false);
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

test('the settings of a link belong to the model that it names or, if it names none, to the first one', () => {
  for (const model of ['translator', null]) {
    const state = newState();
    state.open({ method: 'Top-k', values: { length: 32 } }, { usual: null, model });
    if (model) assert.deepEqual(used(state, CHAT), ['Top-k', 32]); // until it has come
    assert.deepEqual(used(state, TRANSLATOR), ['Top-k', 32]);
    assert.deepEqual(used(state, CHAT), ['Custom', 64]);
  }
  const unnamed = newState();
  unnamed.open({ method: null, values: { length: 32 } }, { usual: null, model: 'translator' });
  assert.deepEqual(used(unnamed, TRANSLATOR), ['Greedy', 32]);
  const other = newState();
  other.open({ method: 'Top-k', values: { length: 32 } }, { usual: null, model: 'chat' });
  assert.deepEqual(used(other, TRANSLATOR), ['Greedy', 64]);
  assert.deepEqual(used(other, CHAT), ['Top-k', 32]);
});

test('what a link needs a method for does not depend on the model, which is chosen after the link is read', () => {
  const state = new PanelState({ ...form(), first: { method: 'Greedy', values: FIRST } }, () => {});
  const before = state.isBeyondFirst('top_k');
  state.followModel({ ...CHAT, method: 'Top-k' });
  assert.deepEqual([before, state.isBeyondFirst('top_k')], [true, true]);
});

test('lengths end at the context of the model', () => {
  const state = newState();
  state.change({ length: 400 });
  state.followModel({ ...CHAT, context: 128 });
  assert.deepEqual([state.values.length, state.startOf('length')], [128, 64]);
  state.followModel({ ...CHAT, context: 32 });
  assert.equal(state.startOf('length'), 32);
  state.change({ length: 33 });
  assert.deepEqual(state.invalid().map(({ name }) => name), ['length']);
});

test('a length that was too long for a model comes back with a longer context, unless it was changed', () => {
  const state = newState();
  state.change({ length: 400 });
  const lengthsIn = (...contexts) => contexts.map((context) => {
    state.followModel({ ...CHAT, context });
    return state.values.length;
  });
  assert.deepEqual(lengthsIn(128, 64, 512, 128), [128, 64, 400, 128]);
  state.change({ length: 100 });
  assert.deepEqual(lengthsIn(512), [100]);
});

test('a length is limited whichever kind of model the context belongs to', () => {
  const state = newState();
  state.followModel(CHAT);
  state.change({ length: 400 });
  assert.deepEqual(used(state, TRANSLATOR), ['Greedy', 64]);
  assert.deepEqual(used(state, { ...CHAT, context: 128 }), ['Custom', 128]); // as many tokens as the translator reads
  assert.deepEqual(used(state, CHAT), ['Custom', 400]);
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
  const chosen = { strategy: 'sample', top_k: 3, temperature: 0.5, dynatemp_range: 0.2, stop_texts: ['<user>'], seed: 4 };
  assert.deepEqual(previewOf(form(), state, chosen), { filters: null, leftOut: [] }); // all that they did is recorded
  for (const other of [{ top_k: 4 }, { strategy: 'greedy' }, { mirostat_mode: 2 }]) {
    assert.deepEqual(previewOf(form(), state, { ...chosen, ...other }), { filters: [top], leftOut: ['Temperature'] });
  }
  state.change({ temperature: 0 });
  assert.deepEqual(previewOf(form(), state), { filters: [{ stage: 'greedy', value: 1 }], leftOut: [] });
  state.change({ top_k: 11, temperature: 1 });
  assert.equal(previewOf(form(), state), null); // of what would be refused
});
