/** The store over a stand-in for IndexedDB, whose requests are answered in a microtask. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { openStore } from '../../../ui/history/store.js';

/** @param {unknown} result @param {Error} [error] */
function request(result, error) {
  const target = Object.assign(new EventTarget(), { result, error });
  queueMicrotask(() => target.dispatchEvent(new Event(error ? 'error' : 'success')));
  return target;
}

test('a document that the browser can no longer read is like one that is not there, and keeps no other from being read', async () => {
  const unreadable = new DOMException('Failed to read large IndexedDB value', 'DataError');
  const objectStore = (name) => ({
    get: (key) => (key === 'damaged' && name === 'documents' ? request(undefined, unreadable) : request(key === 'gone' ? undefined : { key })),
  });
  const store = await openStore(/** @type {any} */ ({ open: () => request({ transaction: () => ({ objectStore }) }) }));
  assert.deepEqual(await store.read('whole'), { entry: { key: 'whole' }, document: { key: 'whole' } });
  assert.deepEqual([await store.read('gone'), await store.read('damaged')], [null, null]);
});
