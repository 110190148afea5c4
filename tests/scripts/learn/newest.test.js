import assert from 'node:assert/strict';
import test from 'node:test';

import { Questions } from '../../../ui/kit/js/questions.js';
import { newestOnly } from '../../../ui/learn/newest.js';

/** What is sent for the questions that are asked, and the replies that are not ignored. */
function slider() {
  /** @type {any[]} */
  const [sent, replies] = [[], []];
  const questions = new Questions((_, data) => sent.push(data));
  const ask = newestOnly(questions);
  return { questions, sent, replies, move: (/** @type {number} */ value) => ask('ask', { value }, (reply) => replies.push(reply)) };
}

test('while a question is open, only the newest of the next is kept, and asked after the reply', () => {
  const { questions, sent, replies, move } = slider();
  for (const value of [1, 2, 3, 4]) move(value);
  assert.deepEqual(sent, [{ value: 1, number: 1 }]);
  questions.settle({ number: 1 });
  assert.deepEqual(sent.at(-1), { value: 4, number: 2 });
  questions.settle({ number: 2 });
  move(5);
  questions.settle({ number: 3 });
  assert.deepEqual([sent.length, replies], [3, [{ number: 2 }, { number: 3 }]]);
});

test('a reply that does not come holds nothing up', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { questions, sent, replies, move } = slider();
  move(1);
  move(2);
  context.mock.timers.tick(10_000);
  assert.deepEqual(sent.map(({ value }) => value), [1, 2]);
  context.mock.timers.tick(10_000);
  move(3); // the second is overdue
  assert.deepEqual(sent.map(({ value }) => value), [1, 2, 3]);
  for (const number of [1, 2, 3]) questions.settle({ number });
  assert.deepEqual([questions.open, replies], [0, [{ number: 3 }]]);
});
