import assert from 'node:assert/strict';
import test from 'node:test';

import { makeDialog } from '../../../ui/kit/overlay/dialog.js';

test('a click beside a dialog closes it, but none between its parts, and no drag from inside', () => {
  const makeElement = () => {
    /** @type {Record<string, (event: any) => void>} */
    const listeners = {};
    return {
      listeners, closed: 0, setAttribute() {}, append() {}, close() { this.closed += 1; },
      addEventListener: (name, listener) => { listeners[name] = listener; },
      getBoundingClientRect: () => ({ left: 100, top: 100, right: 300, bottom: 200 }),
    };
  };
  Object.assign(globalThis, { document: { createElement: makeElement } });
  const dialog = /** @type {any} */ (makeDialog('d', 'Title'));
  const [outside, padding] = [{ target: dialog, clientX: 50, clientY: 150 }, { target: dialog, clientX: 105, clientY: 150 }];
  const field = { target: {}, clientX: 150, clientY: 150 };
  for (const [pressed, released, closed] of [[padding, padding, 0], [field, outside, 0], [outside, padding, 0], [outside, outside, 1]]) {
    dialog.listeners.pointerdown(pressed);
    dialog.listeners.click(released);
    assert.equal(dialog.closed, closed);
  }
});
