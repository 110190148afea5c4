import assert from 'node:assert/strict';
import test from 'node:test';

import { downloadModel } from '../../../web/download.js';

const CONTENT = new TextEncoder().encode('the weights');
const FILE = { name: 'weights', bytes: CONTENT.length };

/**
 * Replace the network and the cache for one test.
 * @param {Record<string, string | Uint8Array>} served by their names
 * @param {Map<string, Response>} kept
 */
function stage(served, kept = new Map()) {
  const requests = [];
  Object.assign(globalThis, {
    fetch: async (address) => {
      requests.push(address);
      const content = served[address.split('?')[0]];
      return content === undefined ? new Response('', { status: 404, statusText: 'Not Found' }) : new Response(/** @type {any} */ (content));
    },
    caches: { open: async () => ({
      match: async (address) => kept.get(address)?.clone(),
      put: async (address, response) => { kept.set(address, response); },
      delete: async (address, { ignoreSearch }) => {
        for (const other of kept.keys()) if (ignoreSearch && other.split('?')[0] === address.split('?')[0]) kept.delete(other);
      },
    }) },
  });
  return { requests, kept };
}

const manifest = async () => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', CONTENT));
  return JSON.stringify({ files: [{ ...FILE, sha256: [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('') }] });
};

test('a model is fetched once, and then taken from the cache', async () => {
  const progress = [], { requests, kept } = stage({ 'm/model.json': await manifest(), 'm/weights': CONTENT });
  const first = await downloadModel('m/', (...numbers) => progress.push(numbers));
  assert.deepEqual(first.files.weights, CONTENT);
  assert.deepEqual(progress.at(-1), [CONTENT.length, CONTENT.length]);
  assert.equal(requests.length, 2);
  const again = stage({ 'm/model.json': await manifest() }, kept);
  assert.deepEqual((await downloadModel('m/')).files.weights, CONTENT);
  assert.deepEqual(again.requests, ['m/model.json']);
});

test('a new version takes the place of the old one, and other models stay', async () => {
  const kept = new Map(['m/weights?old', 'other/weights?x'].map((address) => [address, new Response('the weighty')]));
  stage({ 'm/model.json': await manifest(), 'm/weights': CONTENT }, kept);
  await downloadModel('m/');
  assert.deepEqual([...kept.keys()].map((address) => address.split('?')[0]).toSorted(), ['m/weights', 'other/weights']);
  assert.ok(!kept.has('m/weights?old'));
});

test('a damaged file is refused and not kept', async () => {
  for (const wrong of ['the weighty', 'the', 'more than the weights']) {
    const { kept } = stage({ 'm/model.json': await manifest(), 'm/weights': wrong });
    assert.match(await downloadModel('m/').catch((error) => error.message), /arrived damaged/);
    assert.equal(kept.size, 0);
  }
});

test('a damaged copy in the cache is fetched again', async () => {
  const { kept } = stage({ 'm/model.json': await manifest(), 'm/weights': CONTENT });
  await downloadModel('m/');
  for (const address of kept.keys()) kept.set(address, new Response('the weighty'));
  const { requests } = stage({ 'm/model.json': await manifest(), 'm/weights': CONTENT }, kept);
  assert.deepEqual((await downloadModel('m/')).files.weights, CONTENT);
  assert.equal(requests.length, 2);
});

test('a network that fails is named', async () => {
  stage({});
  globalThis.fetch = () => Promise.reject(new TypeError('fetch failed'));
  assert.match(await downloadModel('m/').catch((error) => error.message), /model\.json can't be loaded \(fetch failed\): check the connection/);
});

test('a file that is not there is named', async () => {
  stage({ 'm/model.json': await manifest() });
  assert.match(await downloadModel('m/').catch((error) => error.message), /m\/weights.* can't be loaded \(404 Not Found\)/);
});
