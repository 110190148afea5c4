import assert from 'node:assert/strict';
import test from 'node:test';

import { moved } from '../../../ui/page/switch.js';

const ENTRIES = ['Chat', 'Write', 'Learn'];

/** @param {string} tab @param {number} clicks */
const answer = (tab, clicks, entries = ENTRIES) => ({ entries, tab, loading: '', encoder: false, clicks, number: 1 });

test('an answer to the last click says where the switch stands', () => {
  assert.deepEqual(moved({ tab: 'Chat', clicks: 2 }, answer('Write', 2)), { tab: 'Write', clicks: 2 });
});

test('an answer that knows nothing of the last click moves nobody', () => {
  assert.deepEqual(moved({ tab: 'Chat', clicks: 3 }, answer('Write', 2)), { tab: 'Chat', clicks: 3 });
});

test('a tab that is offered no longer is left, whatever was clicked', () => {
  const translating = answer('Translate', 2, ['Translate', 'Learn']);
  assert.deepEqual(moved({ tab: 'Chat', clicks: 3 }, translating), { tab: 'Translate', clicks: 3 });
});
