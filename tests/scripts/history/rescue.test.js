import assert from 'node:assert/strict';
import test from 'node:test';

import { rescued, withTurns } from '../../../ui/history/rescue.js';

/** @param {'user' | 'assistant'} role @param {string} text @param {object} [more] @returns {any} */
const turn = (role, text, more = {}) => ({ role, text, tokens: null, run: 'chat-1', state: 'done', note: null, model: '', ...more });
/** @param {any[]} messages */
const outline = (messages) => messages.map(({ text, parent, shown }) => [text, parent, shown]);
const NAMES = { key: 'k', model: 'm' };

test('an answer that was never kept becomes a document of its own', () => {
  const document = rescued(undefined, { kind: 'chat', turns: [turn('user', 'Hi'), turn('assistant', 'I am', { state: 'streaming' })] }, NAMES);
  assert.deepEqual(outline(document.content.messages), [['Hi', -1, true], ['I am', 0, true]]);
  assert.deepEqual([document.title, document.names, document.content.messages[1].state], ['Hi', [], 'stopped']);
});

test('what was kept keeps its versions and runs, and a longer answer takes the place of its beginning', () => {
  const kept = [
    { ...turn('user', 'Hi'), run: null, parent: -1, shown: true },
    { ...turn('assistant', 'One'), run: 'a', parent: 0, shown: false },
    { ...turn('assistant', 'Two'), run: 'b', parent: 0, shown: true },
    { ...turn('user', 'More'), run: null, parent: 2, shown: true },
    { ...turn('assistant', 'Once', { state: 'stopped' }), run: 'c', parent: 3, shown: true },
  ];
  const turns = [turn('user', 'Hi'), turn('assistant', 'Two'), turn('user', 'More'), turn('assistant', 'Once upon')];
  const messages = withTurns(kept, turns);
  assert.deepEqual(outline(messages), [['Hi', -1, true], ['One', 0, false], ['Two', 0, true], ['More', 2, true], ['Once upon', 3, true]]);
  assert.deepEqual(messages.map(({ run }) => run), [null, 'a', 'b', null, null]);
});

test('another answer becomes a version beside the one that was kept', () => {
  const kept = [{ ...turn('user', 'Hi'), run: null, parent: -1, shown: true }, { ...turn('assistant', 'One'), run: 'a', parent: 0, shown: true }];
  assert.deepEqual(outline(withTurns(kept, [turn('user', 'Hi'), turn('assistant', 'Two')])),
    [['Hi', -1, true], ['One', 0, false], ['Two', 0, true]]);
});

test('a text of Write that has grown is kept without its run', () => {
  const before = /** @type {any} */ ({ content: { text: 'The', run: 'a' }, names: ['a'], runs: { a: '…' }, key: 'k', model: 'm' });
  assert.deepEqual(rescued(before, { kind: 'write', text: 'The fox' }, NAMES).content, { text: 'The fox', run: '' });
  assert.deepEqual(rescued(before, { kind: 'write', text: 'The' }, NAMES).names, ['a']);
});
