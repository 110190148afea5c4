/** What the settings take from a page's address and from what its tab kept over a reload. */

import assert from 'node:assert/strict';
import test from 'node:test';

/** The settings restored from what the tab kept. @param {any} context of the test @param {string} kept */
async function restored(context, kept) {
  const globals = /** @type {any} */ (globalThis);
  globals.location = { search: '' };
  globals.history = { state: null };
  globals.sessionStorage = { getItem: () => kept };
  context.mock.method(performance, 'getEntriesByType', () => [{ type: 'reload' }]);
  const { readAddress } = await import('../../../ui/settings/panel_address.js');
  const form = /** @type {any} */ ({
    parameters: [{ name: 'top_k', kind: 'number', minimum: 0, maximum: 10, integer: true }],
    methods: { Custom: {} }, tab_methods: {}, preset_method: 'Custom',
  });
  let all = null;
  readAddress(form, /** @type {any} */ ({ restore: (sets) => { all = sets; }, open() {}, isBeyondFirst: () => false }));
  return all;
}

test('the settings that the tab kept are restored', async (context) => {
  const kept = { Custom: { method: 'Custom', values: { top_k: 4 } }, Unknown: { method: 'Custom', values: {} } };
  assert.deepEqual(await restored(context, JSON.stringify(kept)), { Custom: { method: 'Custom', values: { top_k: 4 } } });
});

test('what another page has kept there is left alone', async (context) => {
  const values = ['', '{', 'null', '3', 'true', '"text"', '[]', '[{"method": "Custom"}]'];
  for (const junk of [...values, '{"Custom": null}', '{"Custom": {"method": 5}}']) {
    assert.deepEqual([junk, await restored(context, junk)], [junk, {}]);
  }
  const withoutValues = await restored(context, '{"Custom": {"method": "Custom", "values": null}}');
  assert.deepEqual(withoutValues, { Custom: { method: 'Custom', values: {} } });
});
