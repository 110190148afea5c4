import assert from 'node:assert/strict';
import test from 'node:test';

import { completeSettings, seedOf } from '../../../web/decoding/settings.js';
import { Engine } from '../../../web/engine.js';
import { Tokenizer } from '../../../web/text/tokenizer.js';

const USED = ['greedy', 'sample'];
const PARAMETERS = [
  { name: 'strategy', default: 'sample', strategies: USED, choices: USED },
  { name: 'temperature', default: 1, strategies: USED, minimum: 0, maximum: 2 },
  { name: 'seed', default: -1, strategies: USED, minimum: -1, maximum: 2 ** 32 - 1, integer: true },
  { name: 'order', default: ['top_k', 'top_p'], strategies: USED, choices: ['top_k', 'top_p'] },
  ...[['stop_texts', []], ['banned_words', []], ['logit_bias', {}]].map(([name, value]) => ({ name: String(name), default: value, strategies: USED })),
];
const PIECES = ['<s>', '<end>', 'a', 'b', 'aa', 'aab'];

/** @param {Record<string, any>} settings */
const refusal = (settings) => {
  try {
    completeSettings(PARAMETERS, settings);
    return '';
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
};

test('lists are checked as in Python', () => {
  const fine = { order: ['top_p'], stop_texts: ['\n'], banned_words: ['a, b'], logit_bias: { 5: -100 } };
  assert.deepEqual(completeSettings(PARAMETERS, { ...fine, seed: 3 }), { strategy: 'sample', temperature: 1, seed: 3, ...fine, order: ['top_k', 'top_p'] });
  assert.match(refusal({ order: ['top_q', 'top_k'] }), /^order has no filter top_q: choose from top_k, top_p\./);
  assert.match(refusal({ order: ['top_k', 'top_k'] }), /^order lists top_k twice/);
  for (const biases of [{ 5: '' }, { 5: NaN }, { 5: 101 }, { x: 1 }, { '05': 1 }]) assert.match(refusal({ logit_bias: biases }), /^logit_bias contains .*, but each entry must be a token id and its bias/);
  for (const text of ['', 5, 'x'.repeat(201), '\ud800']) assert.match(refusal({ stop_texts: [text] }), /^stop_texts contains .*, but each entry must be a text of 1 to 200/);
  assert.match(refusal({ banned_words: [' '] }), /^banned_words contains " ", but .*, not all blank\.$/);
  assert.match(refusal({ banned_words: Array(101).fill('a') }), /^banned_words has 101 entries/);
});

test('a card has the seed that was typed, or one counted up from it', () => {
  assert.deepEqual([seedOf(20_000_003, 0), seedOf(20_000_003, 2), seedOf(2 ** 32 - 1, 1), seedOf(null, 0)], [20_000_003, 20_000_005, 0, null]);
});

/** The tokenizer of a few pieces. */
const tokenizer = new Tokenizer({ pieces: PIECES, special: [0, 1], bytes: [], sentences: false, rules: {} });

test('of two pieces that could be merged, the one with the lower id is, leftmost first', () => {
  assert.deepEqual(tokenizer.encode('aaab').map((id) => PIECES[id]), ['aa', 'a', 'b']);
  assert.deepEqual(tokenizer.encode('baab').map((id) => PIECES[id]), ['b', 'aab']);
  assert.deepEqual(tokenizer.encode('a').map((id) => PIECES[id]), ['a']);
});

test('a long word needs few looks at the vocabulary', () => {
  let looks = 0;
  const counted = new Tokenizer({ pieces: PIECES, special: [0, 1], bytes: [], sentences: false, rules: {} });
  counted.ids = new class extends Map {
    /** @param {string} piece */
    get(piece) {
      looks += 1;
      return super.get(piece);
    }
  }(counted.ids);
  assert.equal(counted.encode('a'.repeat(2000)).length, 1000);
  assert.ok(looks < 10_000);
});

test('a text that could never fit and a bias of an unknown token are refused at once', () => {
  const config = { vocabulary_size: PIECES.length, context_length: 8, encoder_layers: 0 };
  const engine = new Engine(/** @type {any} */ ({ config, settings: PARAMETERS }), tokenizer, /** @type {any} */ ({ decoderStart: [] }));
  assert.throws(() => engine.start('a'.repeat(20_001)), /The text has 20001 characters, but the limit is 20000: shorten it\./);
  assert.throws(() => engine.start('a', { logit_bias: { 6: 1 } }), /logit_bias names token 6, but this model's highest token id is 5/);
  assert.deepEqual(engine.start('aab', { logit_bias: { 5: 1 } }).request.prompt, [0, 5]);
});
