/** What the settings take from a page's address and from what its tab kept over a reload. */

import assert from 'node:assert/strict';
import test from 'node:test';

/**
 * The settings restored from what the tab kept, and those that are in use at first.
 * @param {any} context of the test @param {string} kept @param {object | null} [state] of the entry in the browser's history
 */
async function restored(context, kept, state = null) {
  const globals = /** @type {any} */ (globalThis);
  globals.location = { search: '' };
  globals.history = { state };
  globals.sessionStorage = { getItem: () => kept };
  context.mock.method(performance, 'getEntriesByType', () => [{ type: 'reload' }]);
  const { readAddress } = await import('../../../ui/settings/panel_address.js');
  const form = /** @type {any} */ ({
    parameters: [{ name: 'top_k', kind: 'number', minimum: 0, maximum: 10, integer: true }],
    methods: { Custom: {} }, tab_methods: {}, preset_method: 'Custom',
  });
  let all = null, first = null;
  readAddress(form, /** @type {any} */ ({ restore: (sets) => { all = sets; }, open: (set) => { first = set; }, isBeyondFirst: () => false }));
  return { all, first };
}

test('the settings that the tab kept are restored', async (context) => {
  const kept = { Custom: { method: 'Custom', values: { top_k: 4 } }, Unknown: { method: 'Custom', values: {} } };
  const { all } = await restored(context, JSON.stringify(kept));
  assert.deepEqual(all, { Custom: { method: 'Custom', values: { top_k: 4 } } });
});

test('after a reload they count, since they may be newer than the address, unless a link has opened the page', async (context) => {
  const set = { method: 'Custom', values: { top_k: 4 } }, none = { method: null, values: {} };
  for (const [state, first] of [[{ usualMethod: 'Custom' }, set], [{ usualMethod: 'Other' }, none], [null, none]]) {
    assert.deepEqual((await restored(context, JSON.stringify({ Custom: set }), state)).first, first);
  }
});

test('what another page has kept there is left alone', async (context) => {
  const values = ['', '{', 'null', '3', 'true', '"text"', '[]', '[{"method": "Custom"}]'];
  for (const junk of [...values, '{"Custom": null}', '{"Custom": {"method": 5}}']) {
    assert.deepEqual([junk, (await restored(context, junk)).all], [junk, {}]);
  }
  const withoutValues = await restored(context, '{"Custom": {"method": "Custom", "values": null}}');
  assert.deepEqual(withoutValues.all, { Custom: { method: 'Custom', values: {} } });
});
