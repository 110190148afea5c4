import assert from 'node:assert/strict';
import test from 'node:test';

import { makeMetrics, rangesOf } from '../../../ui/compare/cards/metrics.js';

test('numbers that read the same have no marks, and equal ones the same', () => {
  /** @type {any[]} */
  const elements = [];
  const createElement = (tag) => {
    elements.push({ tag, dataset: {}, style: {}, classList: { add() {} }, setAttribute(name, value) { this[name] = value; }, removeAttribute() {}, append() {}, addEventListener() {} });
    return elements.at(-1);
  };
  Object.assign(globalThis, { document: { createElement } });
  const field = /** @type {any} */ ({ label: 'Perplexity', help: '', unit: '', digits: 2, term: '' });
  /** @param {number[]} numbers of the cards */
  const marks = (...numbers) => {
    const ranges = rangesOf(numbers.map((number) => [number]));
    return numbers.map((number) => {
      elements.length = 0;
      makeMetrics([field]).show([number], ranges);
      return elements.find(({ class: name, className }) => (className ?? name) === 'at-metric-mark').textContent;
    });
  };
  assert.deepEqual(marks(1.101, 1.104), ['', '']); // both 1.10
  assert.deepEqual(marks(1.101, 1.104, 1.2), ['▼', '▼', '▲']);
  assert.deepEqual(marks(1, 1.5, 2), ['▼', '', '▲']);
});
