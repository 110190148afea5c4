import assert from 'node:assert/strict';
import test from 'node:test';

import { rowHeight, scrolledTo, WINDOW } from '../../../ui/inspector/attention/map.js';

const HEIGHT = 192; // three pixels for each of 64 rows

/** @param {number} row @param {number} rows @param {number} [top] */
const goal = (row, rows, top = 0) => scrolledTo({ row, rows, size: rowHeight(HEIGHT, rows), top, height: HEIGHT });

test('rows share the height until there are 64 of them', () => {
  assert.equal(rowHeight(HEIGHT, 10), 19.2);
  assert.equal(rowHeight(HEIGHT, WINDOW), 3);
  assert.equal(rowHeight(HEIGHT, 200), 3);
});

test('the newest row of a growing text is the last of a full window, never alone', () => {
  let top = 0;
  for (let rows = 1; rows <= 200; rows += 1) {
    top = goal(rows - 1, rows, top);
    assert.equal(top, 3 * Math.max(0, rows - WINDOW));
  }
});

test('the window moves with the selection, no further than it must', () => {
  const newest = goal(199, 200); // rows 136 to 199
  assert.equal(newest, 3 * 136);
  assert.equal(goal(136, 200, newest), newest);
  assert.equal(goal(135, 200, newest), 3 * 135);
  assert.equal(goal(0, 200, newest), 0);
  assert.equal(goal(64, 200, 0), 3); // rows 1 to 64
});
