/** When a tab's text is saved: at once when it has been written, and after a rest while a person types. */

import assert from 'node:assert/strict';
import test from 'node:test';

test('a text that was written is saved at once, since its page may be reloaded, and one that is typed after a rest', async (context) => {
  Object.assign(globalThis, { window: globalThis });
  const { makeKeeper } = await import('../../../ui/history/keeper.js');
  context.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  let saved = 0;
  const store = /** @type {any} */ ({ read: async () => { saved += 1; return null; } });
  const questions = /** @type {any} */ ({ ask: () => 1, drop() {} });
  const keeper = makeKeeper(store, questions, async () => true, () => {});
  const text = { kind: 'chat', isEmpty: false };

  keeper.follow(text);
  context.mock.timers.tick(299);
  assert.equal(saved, 0);
  context.mock.timers.tick(1);
  assert.equal(saved, 1);

  keeper.follow({ ...text, isGrowing: true });
  context.mock.timers.tick(3999);
  assert.equal(saved, 1);
  keeper.follow(text);
  context.mock.timers.tick(1);
  assert.equal(saved, 2);
  context.mock.timers.tick(9999);
  assert.equal(saved, 2);
});
