import assert from 'node:assert/strict';
import test from 'node:test';

const { classPart, newName, readClass, ROUND } = await import('../../../ui/kit/address/class_part.js');
const { bitsOf, choicesOf, commonPrefix, judgedText } = await import('../../../ui/classroom/guesses.js');

test('a class is read from its link as it was written', () => {
  const classroom = /** @type {any} */ ({ name: newName(), words: ['guess', 'present'], round: 20, faults: [] });
  assert.deepEqual(readClass(classPart(classroom)), classroom);
  assert.deepEqual(readClass('abcdefgh'), { name: 'abcdefgh', words: [], round: ROUND.usual, faults: [] });
});

test('of a damaged link, whatever is valid holds, and the rest is named', () => {
  assert.deepEqual(readClass('abcdefgh.guess.inspe'), { name: 'abcdefgh', words: ['guess'], round: ROUND.usual, faults: ['inspe'] });
  assert.deepEqual(readClass('<b>.guess.0.61.constructor.'), { name: '', words: ['guess'], round: ROUND.usual, faults: ['<b>', '0', '61', 'constructor', ''] });
  assert.deepEqual(readClass('abcdefgh.guess.guess').words, ['guess']);
  for (const text of ['', '__proto__', 'abcdefgh guess', 'abcdefgh\n', 'a'.repeat(100_000), '.'.repeat(100_000)]) {
    const { name, words, faults } = readClass(text);
    assert.deepEqual([name, words, faults.join('').length <= 100], ['', [], true]);
  }
});

const candidate = (id, text, modelShare) => ({ id, text, modelShare });
const step = /** @type {any} */ ({
  candidates: [candidate(5, ' the', 0.5), candidate(9, 'the', 0.125), candidate(2, ' a', 0.25)], rest: [0.125], kept: [19],
});

test('a guess costs the bits of its likeliest spelling, and one that is not listed those of an average token', () => {
  assert.deepEqual(judgedText(step, 'the'), { text: 'the', bits: 3, others: 0 }); // exactly as it is spelt
  assert.deepEqual(judgedText(step, 'THE '), { text: ' the', bits: 1, others: 0 });
  assert.deepEqual(judgedText(step, '<b>'), { text: '<b>', bits: 7, others: 16 });
  assert.equal(bitsOf(0), 40);
});

test('the order of the choices says nothing about their probabilities', () => {
  assert.deepEqual(choicesOf(step).map(({ id }) => id), [2, 5, 9]);
});

test('what was seen is not asked again', () => {
  assert.equal(commonPrefix([1, 2, 3], [{ id: 1 }, { id: 2 }, { id: 4 }]), 2);
  assert.equal(commonPrefix([1, 2, 3], [{ id: 1 }]), 1);
  assert.equal(commonPrefix([], [{ id: 1 }]), 0);
});
