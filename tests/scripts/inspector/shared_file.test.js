import assert from 'node:assert/strict';
import test from 'node:test';

import { MAX_SENT, contentOf, sendable, sizeNote, withDocument } from '../../../ui/inspector/toolbar/shared_file.js';

const PAGE = '<!doctype html><script type="application/json" id="attend-document">{document}</script><script>{document}</script>';
const HOSTILE = { text: '</script><script>alert(1)</script><!--', model: '$& {document}', steps: [] };

test('a document ends no script of the page that it is put into, and comes out of it as it was', () => {
  const page = withDocument(PAGE, JSON.stringify(HOSTILE));
  assert.equal(page.split('<').length, PAGE.split('<').length);
  assert.deepEqual(contentOf(page).runs.map((run) => JSON.parse(run)), [HOSTILE]);
});

test('a comparison has the runs of its cards, in a shared file and as it is downloaded', () => {
  const runs = [{ ...HOSTILE, seed: 1 }, HOSTILE];
  const page = withDocument(PAGE, JSON.stringify({ cards: runs.map((run) => ({ run })) }));
  assert.deepEqual(contentOf(page).runs.map((run) => JSON.parse(run)), runs);
  assert.deepEqual(contentOf(JSON.stringify({ cards: runs.map((trace) => ({ trace })) })).runs.map((run) => JSON.parse(run)), runs);
});

test('the cards of a shared comparison are shown at once, but not those of any other file', () => {
  const shared = { cards: [{ run: HOSTILE, result: {} }, { run: HOSTILE, result: {} }] };
  assert.deepEqual(contentOf(withDocument(PAGE, JSON.stringify(shared))).comparison, shared);
  const others = ['', '{"cards": 3}', '{"cards": []}', '{"cards": [null]}', JSON.stringify({ cards: [{ trace: HOSTILE }] }), JSON.stringify({ cards: Array(13).fill(shared.cards[0]) })];
  for (const text of others) assert.equal(contentOf(text).comparison, null);
});

test('the size of a large page is said with that of its attention, and how it gets smaller', () => {
  const run = { ids: [1], attention: { rows: ['x'.repeat(2_500_000), 'x'.repeat(1_500_000)] } };
  assert.match(sizeNote(6_340_000, JSON.stringify(run)), /6\.3 MB, of which 4\.0 MB is attention/);
  assert.match(sizeNote(9e6, JSON.stringify({ cards: [{ run }, { run: { ids: [1] } }] })), /9\.0 MB, of which 4\.0 MB/);
});

test('what is no document is left to the server to refuse', () => {
  for (const text of ['', '{', '<!doctype html><p>', '{"cards": 3}', '{"cards": []}']) assert.deepEqual(contentOf(text).runs, [text]);
  assert.deepEqual(contentOf('{"cards": [null, 4]}').runs, ['null', 'null']);
  assert.equal(contentOf(JSON.stringify({ cards: Array(1000).fill(0) })).runs.length, 12);
});

test('of a large document the attention is left out, then the beams, until it fits into a request', () => {
  const half = 'x'.repeat(MAX_SENT / 2);
  const document = { attention: half, search: half, why: [half], ids: [1] };
  assert.deepEqual(sendable(JSON.stringify({ ids: [1], why: [half] })), { text: '{"ids":[1]}', without: '', attention: null });
  assert.deepEqual(sendable(JSON.stringify(document)), { text: JSON.stringify({ search: half, ids: [1] }), without: 'attention', attention: null });
  assert.deepEqual(sendable(JSON.stringify({ ...document, ids: [half] })), { text: JSON.stringify({ ids: [half] }), without: 'beams', attention: null });
  assert.equal(sendable(JSON.stringify({ ids: [half, half] })).text, '');
  assert.deepEqual(sendable('{'), { text: '{', without: '', attention: null });
});

test('attention that was left out is shown if it has a byte for each layer, head and key of every step', () => {
  const prompt = { ids: Array(600).fill(1) };
  const run = { prompt, ids: [2, 3], steps: [{}, {}], attention: { layers: 30, heads: 30, rows: [600, 601].map((keys) => btoa('x'.repeat(900 * keys))) } };
  const { attention, ...rest } = run;
  assert.deepEqual(sendable(JSON.stringify(run)), { text: JSON.stringify(rest), without: '', attention });
  for (const wrong of [{ ...attention, heads: 29 }, { ...attention, rows: [attention.rows[0], `${attention.rows[1]}!`] }, { ...attention, rows: [...attention.rows, attention.rows[0]] }]) {
    const left = sendable(JSON.stringify({ ...run, attention: wrong }));
    assert.deepEqual([left.without, left.attention], ['attention', null]);
  }
});

test('what counts are the bytes of the request, in which quotes are escaped and other letters have several', () => {
  for (const [letter, bytes] of /** @type {[string, number][]} */ ([['"', 4], ['я', 2], ['語', 3]])) {
    const ids = letter.repeat(800_000 / bytes);
    assert.deepEqual(sendable(JSON.stringify({ attention: 'x'.repeat(300_000), ids })), { text: JSON.stringify({ ids }), without: 'attention', attention: null });
  }
});
