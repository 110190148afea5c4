/** The map: where the boxes of its drawing stand, where the arrow keys lead, and what a chapter's place is called. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { layOut, nearest } from '../../../ui/learn/map/drawing.js';
import { namesOf } from '../../../ui/learn/map/place.js';

const rows = (...names) => names.map((row) => row.map((key) => ({ key, kind: key, title: key })));
const SIDES = [
  { name: 'encoder', title: 'Encoder', layers: 2, groups: [{ title: '', repeated: false, rows: rows(['tokens']) }, { title: 'Attention', repeated: true, rows: rows(['weights', 'mixed'], ['add']) }] },
  { name: 'decoder', title: 'Decoder', layers: 2, groups: [{ title: '', repeated: false, rows: rows(['read'], ['queries', 'keys'], ['added'], ['logits']) }] },
];
const boxesOf = (plan) => plan.sides.flatMap(({ groups }) => groups.flatMap((group) => group.rows.flat()));

for (const width of [340, 700, 1400]) {
  test(`at ${width} pixels no box touches another, and all are inside`, () => {
    const plan = layOut(SIDES, width);
    const boxes = boxesOf(plan);
    assert.equal(boxes.length, 9);
    assert.ok(plan.width <= width);
    for (const [index, one] of boxes.entries()) {
      assert.ok(one.x >= 0 && one.x + one.width <= plan.width && one.y > 0 && one.y + 42 <= plan.height);
      for (const other of boxes.slice(index + 1)) {
        const beside = one.x + one.width < other.x || other.x + other.width < one.x;
        assert.ok(beside || Math.abs(one.y - other.y) > 42);
      }
    }
  });
}

test('the arrow keys lead up, down, beside and to the other side, and stop at the edge', () => {
  const boxes = boxesOf(layOut(SIDES, 700));
  const from = (key, delta) => boxes[nearest(boxes, boxes.findIndex((box) => box.key === key), delta)].key;
  assert.equal(from('tokens', [0, -1]), 'weights');
  assert.equal(from('weights', [1, 0]), 'mixed');
  assert.equal(from('mixed', [0, -1]), 'add');
  assert.equal(from('add', [0, -1]), 'add');
  assert.equal(from('tokens', [0, 1]), 'tokens');
  assert.equal(from('tokens', [1, 0]), 'read');
  assert.equal(from('logits', [0, 1]), 'added');
  assert.equal(from('weights', [-1, 0]), 'weights');
});

test('parts that stand on both sides are named once', () => {
  const titles = ['Queries, keys, values', 'Weights', 'Keys, values', 'Queries', 'Weights'];
  assert.equal(namesOf(titles.map((title) => ({ title }))), 'queries · keys · values · weights');
});
