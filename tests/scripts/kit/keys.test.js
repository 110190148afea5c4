import assert from 'node:assert/strict';
import test from 'node:test';

import { addCellCursor, moveAlong } from '../../../ui/kit/js/keys.js';

const press = (key, others = {}) => ({ key, prevented: false, preventDefault() { this.prevented = true; }, ...others });

test('the arrow keys move along a row, but not in a shortcut of the browser', () => {
  const items = /** @type {any[]} */ ([0, 1].map((number) => ({
    number, tabIndex: number ? -1 : 0, focus() { Object.assign(globalThis, { document: { activeElement: this } }); },
  })));
  /** @type {number[]} */
  const opened = [];
  items[0].focus();
  const here = () => /** @type {any} */ (document.activeElement).number;
  const send = (/** @type {any} */ event) => {
    moveAlong(event, items, ({ number }) => opened.push(/** @type {any} */ (number)));
    return [here(), event.prevented];
  };
  for (const modifier of ['altKey', 'ctrlKey', 'metaKey']) {
    assert.deepEqual(send(press('ArrowRight', { [modifier]: true })), [0, false]); // Alt and an arrow: back and forward
  }
  assert.deepEqual(send(press('ArrowRight', { shiftKey: true })), [1, true]);
  assert.deepEqual(send(press('End', { ctrlKey: true })), [1, false]);
  send(press('Enter'));
  assert.deepEqual([opened, items.map(({ tabIndex }) => tabIndex)], [[1], [-1, 0]]);
});

test('nor do they move the cursor of a drawing in one', () => {
  /** @type {Record<string, (event: any) => void>} */
  const listeners = {};
  const moves = /** @type {any[]} */ ([]);
  addCellCursor(/** @type {any} */ ({ addEventListener: (name, listener) => { listeners[name] = listener; } }), {
    cellAt: () => null, current: () => 5, beside: (cell, right, down) => cell + right + 10 * down,
    point: (cell) => moves.push(cell), pick: (cell) => moves.push(`picked ${cell}`),
  });
  const events = [press('ArrowLeft', { altKey: true }), press('Enter', { ctrlKey: true }), press('ArrowDown'), press(' ')];
  for (const event of events) listeners.keydown(event);
  assert.deepEqual(moves, [15, 'picked 5']);
  assert.deepEqual(events.map(({ prevented }) => prevented), [false, false, true, true]);
});
