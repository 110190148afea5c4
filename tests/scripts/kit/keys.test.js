import assert from 'node:assert/strict';
import test from 'node:test';

import { addCellCursor, alongRow, closeOnEscape, moveAlong, onPlane } from '../../../ui/kit/js/keys.js';

const press = (key, others = {}) => ({ key, prevented: false, preventDefault() { this.prevented = true; }, ...others });

test('keys lead along rows and planes, and others nowhere', () => {
  assert.deepEqual(['ArrowLeft', 'ArrowRight', 'Home', 'End', 'x'].map((key) => alongRow(key, 2, 5)), [1, 3, 0, 4, null]);
  assert.deepEqual([onPlane('ArrowUp'), onPlane('ArrowRight'), onPlane('Enter')], [[0, -1], [1, 0], null]);
});

test('the arrow keys move along a row, but not in a shortcut of the browser', () => {
  const items = /** @type {any[]} */ ([0, 1].map((number) => ({
    number, tabIndex: number ? -1 : 0, focus() { Object.assign(globalThis, { document: { activeElement: this } }); },
  })));
  /** @type {number[]} */
  const opened = [];
  items[0].focus();
  const here = () => /** @type {any} */ (document.activeElement).number;
  const send = (/** @type {any} */ event) => {
    moveAlong(event, items, (item) => opened.push(/** @type {any} */ (item).number));
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

/** An element that only has listeners, and the listeners. @returns {[any, Record<string, (event: any) => void>]} */
function listening() {
  /** @type {Record<string, (event: any) => void>} */
  const listeners = {};
  return [{ addEventListener: (name, listener) => { listeners[name] = listener; } }, listeners];
}

test('the keys move the cursor of a drawing, but not in a shortcut of the browser', () => {
  const [drawing, listeners] = listening();
  const moves = /** @type {any[]} */ ([]);
  addCellCursor(drawing, {
    cellAt: () => null, current: () => 5, beside: (cell, right, down) => cell + right + 10 * down,
    point: (cell) => moves.push(cell), pick: (cell) => moves.push(`picked ${cell}`),
  });
  const events = [press('ArrowLeft', { altKey: true }), press('Enter', { ctrlKey: true }), press('ArrowDown'), press(' ')];
  for (const event of events) listeners.keydown(event);
  assert.deepEqual(moves, [15, 'picked 5']);
  assert.deepEqual(events.map(({ prevented }) => prevented), [false, false, true, true]);
});

test('Escape closes what is open, unless it ends the composition of a character', () => {
  const [node, listeners] = listening();
  let closed = 0;
  closeOnEscape(node, () => { closed += 1; });
  listeners.keydown(press('Escape', { isComposing: true }));
  assert.equal(closed, 0);
  listeners.keydown(press('Escape'));
  assert.equal(closed, 1);
});
