import assert from 'node:assert/strict';
import test from 'node:test';

import { byline } from '../../../ui/runs/answer.js';
import { EMPTY, applyUpdate, stage } from '../../../ui/runs/turns.js';

/** @import { AnswerUpdate, TurnValue, TurnsValue } from '../../../ui/runs/runs_contract' */

/** @param {Partial<TurnValue>} changes @returns {TurnValue} */
const turn = (changes) => ({
  role: 'assistant', text: '', tokens: [], run: 'r1', state: 'streaming', dropped: false, note: null, model: '',
  unfinished: false, version: 0, versions: [0, 1], ...changes,
});

/** @param {...string} words of the answer @returns {TurnsValue} */
function whole(version, ...words) {
  const tokens = words.map((text) => ({ text, probability: 0.5 }));
  const question = turn({ role: 'user', text: 'Hi', tokens: null, run: null, state: 'done' });
  return { turns: [question, turn({ version, tokens, text: words.join('') })], examples: [], busy: true };
}

/** @param {Partial<AnswerUpdate>} changes @param {...string} words @returns {AnswerUpdate} */
const update = (changes, ...words) => ({
  run: 'r1', base: 0, version: 1, since: 0, tokens: words.map((text) => ({ text, probability: 0.5 })), state: 'streaming', note: null,
  unfinished: false, busy: true, ...changes,
});

test('an update adds its tokens and leaves all else alone', () => {
  const state = whole(1, 'I', ' am');
  const now = applyUpdate(state, update({ base: 1, version: 2, since: 2 }, ' a', ' fox'));
  assert.deepEqual(now, whole(2, 'I', ' am', ' a', ' fox'));
  assert.equal(now?.turns[0], state.turns[0]);
  assert.equal(now?.turns[1].tokens?.[1], state.turns[1].tokens?.[1]);
});

test('the last one says how the answer ended, and that nothing is going on', () => {
  const now = applyUpdate(whole(1, 'I'), update({ base: 1, version: 2, since: 1, state: 'stopped', note: 'time', unfinished: true, busy: false }));
  assert.deepEqual([now?.busy, now?.turns[1].unfinished], [false, true]);
  assert.deepEqual([now?.turns[1].state, now?.turns[1].note, now?.turns[1].text], ['stopped', 'time', 'I']);
});

test('tokens that a search has replaced are replaced', () => {
  const now = applyUpdate(whole(3, 'I', ' am', ' a'), update({ base: 0, version: 4, since: 1 }, ' was'));
  assert.deepEqual(now, whole(4, 'I', ' was'));
});

test('what builds on a lost update, or on another conversation, is missing something', () => {
  assert.equal(applyUpdate(whole(1, 'I'), update({ base: 2, version: 3, since: 1 }, ' am')), null);
  assert.equal(applyUpdate(whole(1, 'I'), update({ run: 'r2', base: 0, version: 1 }, 'You')), null);
  assert.equal(applyUpdate(EMPTY, update({}, 'I')), null);
});

test('what comes late changes nothing', () => {
  const state = { ...whole(4, 'I', ' am'), number: 7 };
  assert.equal(applyUpdate(state, update({ base: 0, version: 3, since: 1 }, ' was')), state);
  assert.equal(applyUpdate(state, update({ base: 0, version: 4, since: 1 }, ' was')), state);
  assert.equal(applyUpdate(state, { ...whole(3, 'I'), number: 8 }), state); // made before the newest update
  assert.equal(applyUpdate(state, { ...EMPTY, number: 6 }), state); // begun before what is shown
  assert.deepEqual(applyUpdate(state, { ...EMPTY, number: 8 }), { ...EMPTY, number: 8 });
});

test('an answer of updates of which any are lost is the whole answer in the end', () => {
  let seed = 1;
  const draw = (/** @type {number} */ count) => { // Park and Miller's generator
    seed = (seed * 48271) % 2147483647;
    return seed % count;
  };
  for (let round = 0; round < 300; round += 1) {
    // states of one answer, each with what it changed: a random end of it is replaced
    const states = [whole(0)];
    const changed = [0];
    for (let version = 1; version <= 20; version += 1) {
      const words = states[version - 1].turns[1].tokens?.map(({ text }) => text) ?? [];
      const since = Math.max(0, words.length - (draw(4) ? 0 : draw(5)));
      const added = Array.from({ length: draw(4) }, () => ` ${draw(100)}`);
      states.push(whole(version, ...words.slice(0, since), ...added));
      changed.push(since);
    }
    let state = /** @type {TurnsValue} */ (draw(2) ? states[0] : EMPTY);
    for (let version = 1; version <= 20; version += 1) {
      if (draw(10) < round / 30 && version < 20) continue; // lost
      const base = Math.max(0, version - 2);
      const since = Math.min(...changed.slice(base + 1, version + 1));
      const tokens = states[version].turns[1].tokens?.slice(since);
      state = applyUpdate(state, update({ base, version, since, tokens })) ?? states[version]; // the reply to 'missing'
      assert.deepEqual(state, states[version]);
    }
  }
});

test('the stage is that of the last message, whatever came before it', () => {
  assert.equal(stage([]), 'empty');
  assert.equal(stage(whole(1, 'I').turns), 'streaming');
  assert.equal(stage([turn({ state: 'streaming' }), turn({ state: 'done' })]), '');
  assert.equal(stage([turn({ state: 'stopped' })]), '');
});

test('the line under an answer says what was switched off', () => {
  const answer = turn({ state: 'stopped', model: 'attend-chat', note: 'the connection was lost' });
  assert.equal(byline(answer), 'attend-chat · stopped · the connection was lost');
  assert.equal(byline({ ...answer, without: '6.7' }), 'attend-chat · without 6.7 · stopped · the connection was lost');
});
