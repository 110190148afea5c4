import assert from 'node:assert/strict';
import test from 'node:test';

import { keptRoom, meterText } from '../../../ui/page/meter.js';

const VALUE = { used: 212, limit: 1024, answered: 0, note: '' };

test('room is kept for a whole answer, for what is left of one, and never more than half the context or than is free', () => {
  assert.equal(keptRoom(VALUE, 128), 128);
  assert.equal(keptRoom({ ...VALUE, answered: 100 }, 128), 28);
  assert.equal(keptRoom({ ...VALUE, answered: 200 }, 128), 0); // a search may have gone on with a longer text
  assert.equal(keptRoom(VALUE, 900), 512);
  assert.equal(keptRoom({ ...VALUE, used: 1000 }, 128), 24);
});

test('a sentence says what is used and kept, and a note follows', () => {
  assert.equal(meterText(VALUE, 128, 'Chat'), '212 of 1,024 tokens used, 128 reserved for the answer');
  assert.equal(meterText({ ...VALUE, note: 'the oldest message no longer fits' }, 0, 'Chat'),
    '212 of 1,024 tokens used · the oldest message no longer fits');
  assert.equal(meterText(VALUE, 512, 'Chat', 900), '212 of 1,024 tokens used, 512 reserved for the answer (at most half the context)');
  assert.equal(meterText(VALUE, 512, 'Chat', 512), '212 of 1,024 tokens used, 512 reserved for the answer');
  assert.equal(meterText({ ...VALUE, used: 900 }, 124, 'Chat', 900), '900 of 1,024 tokens used, 124 reserved for the answer');
  assert.equal(meterText(VALUE, 0, 'Compare'), 'Longest card: 212 of 1,024 tokens used');
});
