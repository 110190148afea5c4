import assert from 'node:assert/strict';
import test from 'node:test';

import { comparisonFile } from '../../../web/page/compare/file.js';
import { firstDifference, metricsOf } from '../../../web/page/compare/metrics.js';
import { userTurn } from '../../../web/page/turns.js';
import { plain } from '../../../web/page/typed.js';

test('typed lists are values, and numbers stay as they are', () => {
  assert.deepEqual(plain({ top_k: 40, strategy: 'beam', order: 'top_k, temperature', stop_texts: 'The end, ###', banned_words: '["a, b"]', logit_bias: '5:-100, 7: 2.5' }), {
    top_k: 40, strategy: 'beam', order: ['top_k', 'temperature'], stop_texts: ['The end', '###'], banned_words: ['a, b'], logit_bias: { 5: -100, 7: 2.5 },
  });
  assert.deepEqual(plain({ stop_texts: '', logit_bias: '', order: 'top_k, ' }), { stop_texts: [], logit_bias: {}, order: ['top_k'] });
  assert.deepEqual(plain({ logit_bias: '5, 6:, 7:x, 8:1:2' }), { logit_bias: { 5: '', 6: '', 7: 'x', 8: '1:2' } });
  assert.throws(() => plain({ stop_texts: '["a' }), /not valid JSON: put commas/);
});

test('a message comes without the empty lines at its end, as on the page with a server', () => {
  assert.deepEqual(['a \n\n', 'a\nb  ', '\n a'].map((typed) => userTurn(typed).text), ['a ', 'a\nb  ', '\n a']);
});

/** A run whose tokens have the probabilities 1/2, 1/8, … @param {number[]} ids @param {string} text */
const runOf = (ids, text) => /** @type {any} */ ({
  model: 'm', prompt: { text: 'p', ids: [1] }, settings: { strategy: 'greedy', stop_texts: [] }, text, ids, finish_reason: 'length',
  steps: ids.map((id, place) => ({ id, rank: place + 1, entropy: [place + 1], candidates: [{ id, probabilities: [2 ** -(2 * place + 1)] }] })),
});

test('the numbers of a card are those of Python', () => {
  const metrics = metricsOf(runOf([7, 8], 'ab'), 0.5);
  assert.ok(Math.abs(metrics.perplexity - 4) < 1e-9);
  assert.deepEqual([metrics.tokens, metrics.tokens_per_second, metrics.mean_entropy, metrics.distinct_2, metrics.top_share], [2, 4, 1.5, 1, 0.5]);
  assert.deepEqual([[7, 9], [7], [7, 8]].map((ids) => firstDifference(ids, [7, 8])), [1, null, null]);
});

test('a card that was stopped before its first token has its row in every file', () => {
  const cards = [runOf([7], 'a'), runOf([], '')].map((document) => ({ document, own: {}, metrics: metricsOf(document, 1) }));
  const [head, , stopped] = comparisonFile('csv', 'p', true, cards).trim().split('\n').map((row) => row.replace('[]', '').split(','));
  assert.equal(stopped.length, head.length);
  assert.deepEqual(['tokens', 'perplexity', 'finish_reason'].map((name) => stopped[head.indexOf(name)]), ['0', '', 'length']);
  assert.match(comparisonFile('md', 'p', true, cards), /\| 2 \|  \| 0 \|  \|  \|  \|  \|/);
});

test('a comparison is a table, a text for a blog or a document', () => {
  const cards = [runOf([7, 8], '=a'), runOf([7, 9], 'b|"c"')].map((document, place) => ({ document, own: { top_k: place }, metrics: metricsOf(document, 1) }));
  const [head, ...rows] = comparisonFile('csv', 'p', true, cards).trim().split('\n');
  assert.match(head, /^card,model,prompt,strategy,stop_texts,text,tokens,/);
  assert.ok(rows[0].startsWith("1,m,p,greedy,[],'=a,2,") && rows[1].startsWith('2,m,p,greedy,[],"b|""c""",2,'));
  assert.match(comparisonFile('md', 'p', true, cards), /\| 2 \| top\\_k 1 \| 2 \| -1.386 \| 4 \| 1.5 \| b\\\|"c" \|/);
  const { schema, common_draws: common, cards: written } = JSON.parse(comparisonFile('json', 'p', false, cards));
  assert.deepEqual([schema, common, written[1].first_difference, written[1].trace.text], ['attend.compare/1', false, 1, 'b|"c"']);
});
