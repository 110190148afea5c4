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

/**
 * A keeper whose store and server are at hand: what it has asked, and what it has written.
 * @param {any} context of the test
 * @param {import('../../../ui/history/keeper.js').Present} present
 */
async function keeping(context, present = async () => true) {
  Object.assign(globalThis, { window: globalThis });
  const [{ makeKeeper }, { Questions }] = await Promise.all([import('../../../ui/history/keeper.js'), import('../../../ui/kit/js/questions.js')]);
  context.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const sent = /** @type {any[]} */ ([]), kept = new Map();
  const questions = new Questions((_, question) => sent.push(question));
  const store = /** @type {any} */ ({
    read: async (key) => kept.get(key) ?? null,
    write: async (entry, document, revision) => {
      kept.set(entry.key, { entry: { ...entry, revision: revision + 1 }, document });
      return revision + 1;
    },
    list: async () => [...kept.values()].map(({ entry }) => entry),
    remove: async () => {},
  });
  const keeper = makeKeeper(store, questions, present, () => {});
  /** The server's reply to a question. @param {number} index @param {string} key of its document */
  const reply = (index, key) => questions.settle({
    number: sent[index].number, busy: false,
    document: { schema: '', kind: 'chat', key, title: key, model: 'm', content: {}, names: [], runs: {} },
  });
  return { keeper, sent, kept, reply };
}

/** Let promises go on, which wait for nothing but each other. */
async function soon() {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

const WRITTEN = { kind: 'chat', isEmpty: false }, GROWING = { ...WRITTEN, isGrowing: true }, CLEARED = { kind: 'chat', isEmpty: true };

test('what was written is kept although it is cleared before it was asked for, or before the reply comes', async (context) => {
  const { keeper, sent, kept, reply } = await keeping(context);
  keeper.follow(GROWING);
  keeper.follow(WRITTEN);
  keeper.follow(CLEARED); // at once
  await soon();
  assert.equal(sent.length, 1);

  keeper.follow(GROWING);
  context.mock.timers.tick(4000);
  await soon();
  keeper.follow(WRITTEN);
  context.mock.timers.tick(1);
  await soon();
  keeper.follow(CLEARED); // while the reply is on its way
  keeper.follow(GROWING); // another text begins
  keeper.follow(CLEARED); // and is cleared while it grows
  await soon();
  assert.equal(sent.length, 4);
  for (const [index, key] of ['a', 'superseded', 'b', 'c'].entries()) reply(index, key);
  await soon();
  assert.deepEqual([...kept.keys()], ['a', 'b', 'c']);
  assert.deepEqual(keeper.keys(), { chat: '' }); // the tab shows none of them
});

test('what was only typed and cleared before it rested is not kept', async (context) => {
  const { keeper, sent } = await keeping(context);
  keeper.follow(WRITTEN);
  context.mock.timers.tick(299);
  keeper.follow(CLEARED);
  context.mock.timers.tick(9999);
  await soon();
  assert.equal(sent.length, 0);
});

test('a text is saved before another document takes its place', async (context) => {
  const { keeper, kept, reply } = await keeping(context);
  kept.set('older', { entry: { key: 'older', kind: 'chat', revision: 3 }, document: {} });
  keeper.follow(GROWING);
  const opening = keeper.open('older', { isShown: true, bring: false });
  await soon();
  reply(0, 'a');
  assert.equal(await opening, true);
  await soon();
  assert.deepEqual([[...kept.keys()], keeper.keys()], [['older', 'a'], { chat: 'older' }]);
});

test('what was written is kept although the question for it was dropped before it is cleared', async (context) => {
  const { keeper, sent, kept, reply } = await keeping(context);
  keeper.follow(GROWING);
  keeper.follow(WRITTEN);
  context.mock.timers.tick(1);
  await soon();
  assert.equal(sent.length, 1);
  keeper.follow(WRITTEN); // drawn again before the reply
  keeper.follow(CLEARED);
  await soon();
  reply(0, 'dropped');
  reply(1, 'a');

  keeper.follow(GROWING);
  keeper.follow(WRITTEN);
  keeper.follow(WRITTEN); // drawn again before the question
  keeper.follow(CLEARED);
  await soon();
  reply(2, 'b');
  await soon();
  assert.deepEqual([[...kept.keys()], sent.length], [['a', 'b'], 3]);

  keeper.follow(GROWING);
  keeper.follow(WRITTEN);
  context.mock.timers.tick(1);
  await soon();
  reply(3, 'c');
  await soon();
  keeper.follow(WRITTEN); // typed, and cleared before it rested
  keeper.follow(CLEARED);
  await soon();
  assert.equal(sent.length, 4);
});

test('a document in view that is deleted is not saved again, whatever is on its way', async (context) => {
  const { keeper, sent, kept, reply } = await keeping(context);
  keeper.follow(GROWING);
  context.mock.timers.tick(4000);
  await soon();
  reply(0, 'a');
  await soon();
  keeper.follow(WRITTEN);
  context.mock.timers.tick(1);
  await soon();
  kept.clear();
  assert.deepEqual(keeper.forget(['a', 'other']), ['chat']);
  reply(1, 'a');
  keeper.follow(CLEARED); // as the server says then
  context.mock.timers.tick(9999);
  await soon();
  assert.deepEqual([[...kept.keys()], sent.length, keeper.keys()], [[], 2, { chat: '' }]);
  assert.deepEqual(keeper.forget(['other']), []);
});

test('a reply that has just come is not written if its document is deleted meanwhile', async (context) => {
  const { keeper, kept, reply } = await keeping(context);
  keeper.follow(WRITTEN);
  context.mock.timers.tick(9999);
  await soon();
  keeper.setKey('chat', 'a');
  reply(0, 'a');
  keeper.forget(['a']);
  await soon();
  assert.deepEqual([[...kept.keys()], keeper.keys()], [[], { chat: '' }]);
});

test('a text that grows is still saved while it grows if the document that was to take its place is refused', async (context) => {
  const { keeper, sent, kept } = await keeping(context, async () => false);
  kept.set('older', { entry: { key: 'older', kind: 'chat', revision: 3 }, document: {} });
  keeper.follow(GROWING);
  assert.equal(await keeper.open('older', { isShown: true, bring: false }), false);
  await soon();
  assert.equal(sent.length, 1); // as the text was about to be left
  context.mock.timers.tick(4000);
  await soon();
  assert.equal(sent.length, 2);
  keeper.follow(WRITTEN);
  context.mock.timers.tick(1); // its end is not taken for typing
  await soon();
  assert.equal(sent.length, 3);
});

test('a text that rests is not followed as one that grows if a document is refused', async (context) => {
  const { keeper, sent, kept } = await keeping(context, async () => false);
  kept.set('older', { entry: { key: 'older', kind: 'chat', revision: 3 }, document: {} });
  assert.equal(await keeper.open('older', { isShown: true, bring: false }), false);
  context.mock.timers.tick(9999);
  await soon();
  assert.equal(sent.length, 0);
});
