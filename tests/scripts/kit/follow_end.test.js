import assert from 'node:assert/strict';
import test from 'node:test';

import { followEnd } from '../../../ui/kit/parts/follow_end.js';

globalThis.cancelAnimationFrame = () => {};

test('a reader who has left the end is not taken back to it because the text was hidden meanwhile', () => {
  const box = Object.assign(new EventTarget(), { scrollHeight: 500, clientHeight: 100, scrollTop: 400 });
  const end = followEnd(/** @type {any} */ (box));
  const scroll = (/** @type {Partial<typeof box>} */ position) => Object.assign(box, position).dispatchEvent(new Event('scroll'));
  scroll({ scrollTop: 300 });
  assert.equal(end.isAtEnd, false);
  scroll({ scrollHeight: 0, clientHeight: 0, scrollTop: 0 }); // what Chromium reports after the text was hidden
  assert.equal(end.isAtEnd, false);
  scroll({ scrollHeight: 500, clientHeight: 100, scrollTop: 360 });
  assert.equal(end.isAtEnd, true);
});
