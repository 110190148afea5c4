import assert from 'node:assert/strict';
import test from 'node:test';

import { answerSelections, decodingMethod, selectToken, showTab, shownTab } from '../../../ui/kit/js/signals.js';

test('a later subscriber gets the last value at once, and then every new one', () => {
  /** @type {string[]} */
  const methods = [];
  assert.equal(decodingMethod.latest, undefined);
  decodingMethod.publish('Greedy');
  decodingMethod.subscribe(null, (method) => methods.push(method));
  decodingMethod.publish('Sampling');
  assert.deepEqual(methods, ['Greedy', 'Sampling']);
  assert.equal(decodingMethod.latest, 'Sampling');
});

test('a subscription ends when its owner has left the page', () => {
  const owner = /** @type {any} */ ({ isConnected: true });
  let count = 0;
  decodingMethod.subscribe(owner, () => { count += 1; });
  owner.isConnected = false;
  decodingMethod.publish('Beam search');
  owner.isConnected = true;
  decodingMethod.publish('Greedy');
  assert.equal(count, 1); // the value at the beginning
});

test('a token is selected only where the inspector has its run', () => {
  assert.equal(selectToken('a', 0), false); // there is no inspector yet
  answerSelections((run) => run === 'a');
  assert.deepEqual([selectToken('a', 0), selectToken('b', 0)], [true, false]);
});

test('a tab that is offered comes into sight, and one for which there is no model does not', () => {
  /** @type {string[]} */
  const clicked = [];
  const entry = { click: () => { clicked.push('Write'); } };
  Object.assign(globalThis, { document: { querySelector: (selector) => (selector.includes('"Write"') ? entry : null) } });
  assert.deepEqual([showTab('Write'), showTab('Translate')], [true, false]);
  shownTab.publish('Write');
  assert.deepEqual([showTab('Write'), clicked], [true, ['Write']]); // it is in sight already
});
