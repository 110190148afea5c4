import assert from 'node:assert/strict';
import test from 'node:test';

import { readLinked } from '../../../ui/compare/link.js';

/** @type {any} */
const OFFERED = {
  fewest: 2, most: 3,
  parameters: [
    { name: 'strategy', kind: 'word', choices: [['sample', 'Sampling']] },
    { name: 'heat', kind: 'number', minimum: 0, maximum: 2 }, { name: 'stop', kind: 'text' },
  ],
};
const read = (/** @type {unknown} */ value) => readLinked(OFFERED, JSON.stringify(value));

test('a link brings the cards, what to do with the prompt, and whose the random numbers are', () => {
  const cards = [{ heat: 0.5, stop: '"a" & b' }, { strategy: 'sample' }];
  assert.deepEqual(read({ cards }), { cards, answer: false, common: true });
  assert.deepEqual(read({ cards, answer: true, common: false }), { cards, answer: true, common: false });
});

test('a link with cards that nobody could have made is refused as a whole', () => {
  const wrong = [
    [{}], [{}, {}, {}, {}], [{}, null], [{}, []], 'ab', [{}, { heat: 3 }], [{}, { heat: '1' }], [{}, { strategy: 'greedy' }],
    [{}, { stop: 5 }], [{}, { folder: '/etc' }], [{}, JSON.parse('{"__proto__": 1}')], [{}, { stop: 'x'.repeat(2000) }],
  ];
  for (const cards of wrong) assert.equal(read({ cards }), null);
  for (const text of ['', '{', 'null', '[]', '{"cards": {}}']) assert.equal(readLinked(OFFERED, text), null);
});
