import assert from 'node:assert/strict';
import test from 'node:test';

import { displayName, exported, imported, importNote, isSame, keysToEvict, leftOutNote, search, sizeOf, withinLimit, withRuns } from '../../../ui/history/documents.js';

const KINDS = ['chat', 'write'];

/** @param {string} key @param {Partial<import('../../../ui/history/store.js').Entry>} [others] */
const entry = (key, others = {}) =>
  ({ key, kind: 'chat', title: `About ${key}`, name: '', model: 'm', changed: 0, revision: 1, size: 10, ...others });

/** @param {string} key @param {Record<string, string>} runs @param {string[]} [names] */
const documentOf = (key, runs, names = Object.keys(runs)) =>
  ({ schema: 's', kind: 'chat', key, title: '', model: 'm', content: {}, names, runs });

test('the oldest documents go first, until the others keep to both limits, and those in view stay', () => {
  const entries = [entry('a', { changed: 3 }), entry('b', { changed: 1 }), entry('c', { changed: 2, size: 100 })];
  assert.deepEqual(keysToEvict(entries, []), []);
  assert.deepEqual(keysToEvict(entries, [], { count: 2, size: 1000 }), ['b']);
  assert.deepEqual(keysToEvict(entries, ['b'], { count: 2, size: 1000 }), ['c']);
  assert.deepEqual(keysToEvict(entries, [], { count: 9, size: 20 }), ['b', 'c']); // 120, 110, 10
});

test('what is too large to be sent loses its oldest runs and keeps its texts', () => {
  const long = documentOf('a', { one: 'x'.repeat(500), two: 'y'.repeat(500) });
  assert.deepEqual(withinLimit(long, 5000), long);
  assert.deepEqual(Object.keys(withinLimit(long, 900).runs), ['two']);
  assert.deepEqual(withinLimit(long, 10), { ...long, runs: {} });
  assert.equal(leftOutNote(long, long), '');
  const huge = documentOf('a', { one: 'x'.repeat(1_234_000) });
  assert.match(leftOutNote(huge, withinLimit(huge)), /takes 1,235 kB, and at most 900 kB can be restored/);
  const french = { ...long, content: { text: 'é'.repeat(500) } }; // 500 characters of two bytes each
  assert.deepEqual(Object.keys(withinLimit(french, 2100).runs), ['two']);
});

test('a new state takes the runs that it lacks from earlier ones, and those alone that it names', () => {
  const before = documentOf('a', { one: '1', gone: '0' });
  const next = withRuns(documentOf('a', { two: '2' }, ['one', 'two', 'never']), undefined, before);
  assert.deepEqual(next.runs, { one: '1', two: '2' });
  assert.equal(isSame(next, { ...next }), true);
  assert.equal(isSame(next, before), false);
});

test('a search finds all words of a name in any case, the newest first', () => {
  const entries = [entry('tea', { changed: 1 }), entry('old', { title: 'Green TEA at five', changed: 0 }), entry('x', { name: 'Dogs' })];
  assert.deepEqual(search(entries, 'tea').map(({ key }) => key), ['tea', 'old']);
  assert.deepEqual(search(entries, ' tea  green').map(({ key }) => key), ['old']);
  assert.equal(search(entries, '').length, 3);
  assert.deepEqual([displayName(entry('a')), displayName(entry('a', { name: 'Mine' })), displayName(entry('a', { title: '' }))],
    ['About a', 'Mine', 'Untitled']);
});

test('what was exported can be imported, and nothing else', () => {
  const kept = [{ entry: entry('a'), document: documentOf('a', { one: '1' }) }];
  const size = sizeOf(kept[0].document); // counted anew
  assert.deepEqual(imported(exported([...kept, null]), KINDS), [{ ...kept[0], entry: { ...kept[0].entry, size } }]);
  const spoiled = [
    'x', 'null', '{}', JSON.stringify({ schema: 'attend.history/2', kept }), exported([{ ...kept[0], entry: entry('b') }]),
    exported([{ ...kept[0], document: documentOf('a', /** @type {any} */ ({ one: 1 })) }]),
    exported([{ ...kept[0], entry: entry('a', { changed: 1e300 }) }]), exported([{ ...kept[0], entry: entry('a', { kind: 'x' }) }]), exported([/** @type {any} */ ({ entry: 5 })]),
  ];
  for (const text of spoiled) assert.throws(() => imported(text, KINDS), /isn’t an Attend history/);
});

test('an import says what it had to delete', () => {
  assert.equal(importNote({ added: 3, known: 0, evicted: 0 }), '3 imported.');
  assert.equal(importNote({ added: 3, known: 2, evicted: 1 }),
    '3 imported, 2 already here. The history holds 200 entries, up to 200 MB: the oldest entry was deleted.');
  assert.ok(importNote({ added: 3, known: 0, evicted: 2 }).endsWith(': the 2 oldest entries were deleted.'));
});
