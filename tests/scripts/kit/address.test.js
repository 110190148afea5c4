import assert from 'node:assert/strict';
import test from 'node:test';

Object.assign(globalThis, { location: { search: '?tab=Learn&top_k=7&top_k=many&__theme=dark&view=api&model=%2Fetc&chapter=' } });
const { areJudged, takePart, takeParts, untaken, withParts } = await import('../../../ui/kit/address/address.js');

test('each part is taken by its owner, and what nobody understands is left', () => {
  assert.equal(takePart('tab', (tab) => ['Chat', 'Learn'].includes(tab)), 'Learn');
  assert.equal(takePart('tab', () => true), null); // it is gone
  assert.equal(takePart('model', () => false), null);
  assert.equal(areJudged(), false); // the script of the chapters may start late
  assert.equal(takePart('chapter', () => true), '');
  assert.equal(areJudged(), true);
  takeParts((name, value) => name === 'top_k' && value === '7');
  assert.deepEqual(untaken(), [['top_k', 'many'], ['model', '/etc']]); // Gradio's own names are not ours to judge
});

test('an address keeps what it is not told about, and any text is only text in it', () => {
  assert.equal(withParts('http://a/b?x=1&tab=Chat', { tab: null, seed: 5 }), 'http://a/b?x=1&seed=5');
  const prompt = 'a&tab=Learn#<b>\n"é"';
  assert.equal(new URL(withParts('http://a/?tab=Chat', { prompt })).searchParams.get('prompt'), prompt);
  assert.equal(new URL(withParts('http://a/?tab=Chat', { prompt })).searchParams.get('tab'), 'Chat');
});
