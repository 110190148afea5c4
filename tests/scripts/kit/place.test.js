import assert from 'node:assert/strict';
import test from 'node:test';

import { EDGE, GAP, place } from '../../../ui/kit/overlay/place.js';

const BUBBLE = { width: 300, height: 200 };
const DESK = { width: 1400, height: 900 };

/** @param {number} left @param {number} top @param {number} width @param {number} height */
const box = (left, top, width, height) => ({ left, top, right: left + width, bottom: top + height });

test('the bubble stands below in the middle, then above, then at the right, then at the left', () => {
  assert.deepEqual(place(box(500, 100, 400, 100), BUBBLE, DESK), { side: 'below', x: 550, y: 200 + GAP });
  assert.deepEqual(place(box(500, 700, 400, 100), BUBBLE, DESK), { side: 'above', x: 550, y: 700 - GAP - 200 });
  assert.deepEqual(place(box(0, 50, 400, 800), BUBBLE, DESK), { side: 'right', x: 400 + GAP, y: 50 });
  assert.deepEqual(place(box(1000, 50, 400, 800), BUBBLE, DESK), { side: 'left', x: 1000 - GAP - 300, y: 50 });
});

test('one pixel decides whether a side has room', () => {
  const most = DESK.height - 200 - GAP - EDGE; // the lowest edge with room for the bubble under it
  assert.equal(place(box(0, 0, 1400, most), BUBBLE, DESK).side, 'below');
  assert.equal(place(box(0, 0, 1400, most + 1), BUBBLE, DESK).side, 'over');
});

test('the bubble stays in the window and beside its box, wherever that is', () => {
  for (const view of [DESK, { width: 390, height: 844 }]) {
    for (let left = 0; left < view.width; left += 65) {
      for (let top = -100; top < view.height; top += 61) {
        const target = box(left, top, Math.min(260, view.width - left), 240);
        const { side, x, y } = place(target, BUBBLE, view);
        assert.ok(x >= EDGE && x + BUBBLE.width <= view.width - EDGE && y >= EDGE && y + BUBBLE.height <= view.height - EDGE);
        const isBeside = x >= target.right || x + BUBBLE.width <= target.left || y >= target.bottom || y + BUBBLE.height <= target.top;
        assert.equal(isBeside, side !== 'over');
      }
    }
  }
});

test('it covers nothing that is wanted where it can stand elsewhere, and else as little as it can', () => {
  const target = box(500, 350, 400, 100);
  const below = box(400, 500, 500, 40);
  assert.deepEqual(place(target, BUBBLE, DESK, [below]), { side: 'above', x: 550, y: 350 - GAP - 200 });
  assert.deepEqual(place(target, BUBBLE, DESK, [below, box(0, 0, 1400, 300)]), { side: 'right', x: 900 + GAP, y: 350 });
  assert.deepEqual(place(target, BUBBLE, DESK, [box(400, 450 + GAP + 200, 600, 40)]).side, 'below'); // they touch
  assert.deepEqual(place(target, BUBBLE, DESK, [box(0, 0, 1400, 900)]).side, 'below');
  assert.deepEqual(place(target, BUBBLE, DESK, [box(0, 0, 1400, 900), below]).side, 'above');
});

test('where no side has room it stands over the lower end of what it points at', () => {
  assert.deepEqual(place(box(0, 10, 390, 820), BUBBLE, { width: 390, height: 844 }),
    { side: 'over', x: 45, y: 844 - 200 - EDGE });
});
