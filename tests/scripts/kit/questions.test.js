import assert from 'node:assert/strict';
import test from 'node:test';

import { Questions } from '../../../ui/kit/js/questions.js';

/** @returns {{questions: Questions, sent: any[], replies: any[], keep: (reply: any) => void}} */
function asking() {
  /** @type {any[]} */
  const [sent, replies] = [[], []];
  const questions = new Questions((event, data) => sent.push([event, data]));
  return { questions, sent, replies, keep: (reply) => replies.push(reply) };
}

test('every question has its number and each reply goes to its own, in any order', () => {
  const { questions, sent, keep, replies } = asking();
  questions.ask('file', { kind: 'csv' }, (reply) => keep(['first', reply.file]));
  questions.ask('file', { kind: 'json' }, (reply) => keep(['second', reply.file]));
  assert.deepEqual(sent, [['file', { kind: 'csv', number: 1 }], ['file', { kind: 'json', number: 2 }]]);
  questions.settle({ number: 2, file: 'b' });
  questions.settle({ number: 1, file: 'a' });
  assert.deepEqual(replies, [['second', 'b'], ['first', 'a']]);
});

test('a refused question is over, and a second reply is nobody’s', () => {
  const { questions, keep, replies } = asking();
  const number = questions.ask('panel', {}, keep);
  questions.settle({ number });
  questions.settle({ number });
  assert.deepEqual([questions.open, replies.length], [0, 1]);
});

test('what was dropped changes nothing when it comes', () => {
  const { questions, keep, replies } = asking();
  questions.drop(questions.ask('save', {}, keep));
  questions.settle({ number: 1 });
  assert.deepEqual([questions.open, replies], [0, []]);
});

test('a question whose reply is lost is asked again, until there is one or it is given up', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { questions, sent, keep, replies } = asking();
  questions.ask('open', { key: 'a', bring: true }, keep, { bring: false });
  context.mock.timers.tick(4999);
  assert.equal(sent.length, 1);
  context.mock.timers.tick(5001);
  const repeated = ['open', { key: 'a', bring: false, number: 1 }];
  assert.deepEqual(sent, [['open', { key: 'a', bring: true, number: 1 }], repeated, repeated]);
  questions.settle({ number: 1, opened: true });
  questions.settle({ number: 1, opened: true }); // the reply to the second
  questions.ask('keep', {}, keep, {});
  context.mock.timers.tick(300_000);
  assert.equal(sent.length, 3 + 12);
  assert.deepEqual([questions.open, replies], [0, [{ number: 1, opened: true }, { number: 2 }]]);
  questions.drop(questions.ask('keep', {}, keep, {}));
  questions.ask('file', {}, keep);
  context.mock.timers.tick(300_000);
  assert.equal(sent.length, 15 + 2); // what was dropped, or is asked once
  questions.ask('exercise', {}, keep, {}, 60_000);
  context.mock.timers.tick(119_999);
  assert.equal(sent.length, 17 + 2); // an answer that takes long has more time
});
