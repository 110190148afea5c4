import assert from 'node:assert/strict';
import test from 'node:test';

import { runsIn, withDocument } from '../../../ui/inspector/toolbar/shared_file.js';

const PAGE = '<!doctype html><script type="application/json" id="attend-document">{document}</script><script>{document}</script>';
const HOSTILE = { text: '</script><script>alert(1)</script><!--', model: '$& {document}', steps: [] };

test('a document ends no script of the page that it is put into, and comes out of it as it was', () => {
  const page = withDocument(PAGE, JSON.stringify(HOSTILE));
  assert.equal(page.split('<').length, PAGE.split('<').length);
  assert.deepEqual(runsIn(page).map((run) => JSON.parse(run)), [HOSTILE]);
});

test('a comparison has the runs of its cards, in a shared file and as it is downloaded', () => {
  const runs = [{ ...HOSTILE, seed: 1 }, HOSTILE];
  const page = withDocument(PAGE, JSON.stringify({ cards: runs.map((run) => ({ run })) }));
  assert.deepEqual(runsIn(page).map((run) => JSON.parse(run)), runs);
  assert.deepEqual(runsIn(JSON.stringify({ cards: runs.map((trace) => ({ trace })) })).map((run) => JSON.parse(run)), runs);
});

test('what is no document is left to the server to refuse', () => {
  for (const text of ['', '{', '<!doctype html><p>', '{"cards": 3}']) assert.deepEqual(runsIn(text), [text]);
  assert.deepEqual(runsIn('{"cards": [null, 4]}'), ['null', 'null']);
  assert.equal(runsIn(JSON.stringify({ cards: Array(1000).fill(0) })).length, 12);
});
