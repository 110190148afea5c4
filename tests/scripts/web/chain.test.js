import assert from 'node:assert/strict';
import test from 'node:test';

import { buildChain } from '../../../web/decoding/processors/chain.js';

/**
 * The stages of a sample.
 * @param {Record<string, any>} settings
 * @param {(ids: number[]) => string} decode
 */
function stages(settings, decode = () => '') {
  const request = { endTokens: [3], suppressed: [], drawsUsed: 0, decode, encode: (/** @type {string} */ text) => (text === '\u200b' ? [] : [0]) };
  return buildChain('sample', { seed: 1, order: Object.keys(settings), ...settings }, /** @type {any} */ (request), 1);
}

test('XTC excludes nothing where it would exclude the line break', () => {
  const logits = Float32Array.from([0.5, 0.4, 0.1], Math.log);
  const xtc = { xtc: true, xtc_probability: 1, xtc_threshold: 0.2 };
  const apply = (/** @type {(ids: number[]) => string} */ decode) => [...stages(xtc, decode)[0].apply(logits, { prompt: [], tokens: [] })];
  assert.deepEqual(apply(() => '\n'), [...logits]);
  assert.deepEqual(apply(() => ' '), [-Infinity, logits[1], logits[2]]); // this vocabulary has none
});

test('a banned word without tokens is refused', () => {
  assert.throws(() => stages({ banned_words: ['a', '\u200b'] }), /^Error: banned_words contains "\u200b", which has no tokens/);
});
