import assert from 'node:assert/strict';
import test from 'node:test';

import { cellsWhere, dotProduct, softmaxShare } from '../../../ui/learn/drawings/explained.js';
import { unpackedShares } from '../../../ui/learn/drawings/packed.js';

test('16 bits a number tell shares of less than a thousandth apart', () => {
  const packed = btoa(String.fromCharCode(0, 0, 33, 0, 0xff, 0x7f, 0x01, 0x80)); // 0, 33, 32767 and −32767, low byte first
  assert.deepEqual([...unpackedShares(packed)], [0, 33 / 32767, 1, -1]);
});

test('a number is written out with what it was computed from', () => {
  assert.equal(dotProduct([0.5, -1], [2, null]), '(0.50)\u2060(2.00) + (−1.00)\u2060(−∞)');
  assert.equal(softmaxShare([1, -0.25], 1), '$e^(−0.25)$ / ($e^(1.00) + e^(−0.25)$)');
  assert.deepEqual([{ row: 1 }, { row: 1, head: 2 }, {}].map((wanted) => cellsWhere(wanted)({ row: 1, column: 0, head: 0 })), [true, false, true]);
});
