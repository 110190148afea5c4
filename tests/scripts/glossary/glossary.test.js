import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';

import { ENTRIES } from '../../../ui/glossary/entries.js';
import { meaning } from '../../../ui/glossary/entry.js';
import { isTermName } from '../../../ui/glossary/glossary.js';
import { helps } from '../../../ui/glossary/helps.js';
import { ALL } from '../../../ui/glossary/term_link.js';
import { termsIn } from '../../../ui/glossary/matching.js';
import { TERMS } from '../../../ui/glossary/terms.js';

const CHAPTERS = readdirSync(new URL('../../../ui/learn/chapters/texts', import.meta.url));

/** @param {string} text */
const named = (text) => termsIn(text).map(({ key, from, to }) => [key, text.slice(from, to)]);

test('every term has an entry, and every entry a term', () => {
  assert.deepEqual(Object.keys(TERMS).toSorted(), Object.keys(ENTRIES).toSorted());
  assert.ok(Object.keys(TERMS).every(isTermName));
  assert.ok(!Object.hasOwn(TERMS, ALL));
});

test('no two entries have a name or a spelling in common', () => {
  const spellings = Object.values(TERMS).flat().map((spelling) => spelling.toLowerCase());
  const names = Object.values(ENTRIES).map(({ name }) => name);
  assert.equal(new Set(spellings).size, spellings.length);
  assert.equal(new Set(names).size, names.length);
});

test('an entry is a few short sentences', () => {
  for (const [key, { name, text = '', help, formula = '', source = '' }] of Object.entries(ENTRIES)) {
    assert.ok(text || help);
    const isShort = name.length <= 30 && text.length <= 220 && formula.length <= 60 && source.length <= 75;
    assert.deepEqual([key, isShort], [key, true]);
    assert.ok(!text || (/^[A-Z].*\.$/.test(text) && text.split(/[.!?] /).length <= 3));
  }
});

test('every chapter that an entry names is in the course', () => {
  const chapters = new Set(Object.values(ENTRIES).map(({ chapter }) => chapter).filter(Boolean));
  assert.deepEqual([...chapters].filter((key) => !CHAPTERS.includes(`${key}.md`)), []);
  assert.equal(chapters.size, CHAPTERS.filter((name) => name.endsWith('.md')).length); // and each chapter shows some term
});

test('a term is found in any case and number, the longer one first', () => {
  assert.deepEqual(named('Tokens, a token, and vocabularies'),
    [['token', 'Tokens'], ['token', 'token'], ['vocabulary', 'vocabularies']]);
  assert.deepEqual(named('An encoder-decoder has cross-attention'),
    [['encoder-decoder', 'encoder-decoder'], ['cross-attention', 'cross-attention']]);
  assert.deepEqual(named('greedy decoding, greedy'), [['greedy', 'greedy decoding'], ['greedy', 'greedy']]);
});

test('parts of words, of paths and of quotations are no terms', () => {
  assert.deepEqual(named('tokenised, attend-token, token_ids, in model/transformer/attention.py or vocabulary.py'), []);
  assert.deepEqual(named('“Attention is all you need” of 2017'), []);
  assert.deepEqual(named('the end of a token.'), [['token', 'token']]); // but the end of a sentence is none of a path
});

test('what the page says elsewhere is not written again', () => {
  assert.deepEqual(meaning(ENTRIES['top-k']), []);
  helps.set('top_k', { where: 'In the settings', text: 'Keeps k.' });
  helps.set('seed', { where: 'In the settings', text: 'The same draws.' });
  assert.deepEqual(meaning(ENTRIES['top-k']), [{ where: '', text: 'Keeps k.' }]);
  assert.deepEqual(meaning(ENTRIES.seed), [
    { where: '', text: ENTRIES.seed.text }, { where: 'In the settings: ', text: 'The same draws.' },
  ]);
});
