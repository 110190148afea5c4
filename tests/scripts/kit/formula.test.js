import assert from 'node:assert/strict';
import test from 'node:test';

import { ENTRIES } from '../../../ui/glossary/entries.js';
import { parseFormula } from '../../../ui/kit/js/formula.js';

/** @param {import('../../../ui/kit/js/formula.js').MathNode} node @returns {string} */
const markup = ({ tag, text = '', children = [], isPrefix }) =>
  `<${tag}${isPrefix ? ' prefix' : ''}>${text}${children.map(markup).join('')}</${tag}>`;

/** @param {string} formula */
const written = (formula) => parseFormula(formula).map(markup).join('');

test('scripts stand above and below the line, without the brackets around them', () => {
  assert.equal(written('10000^(2i/d)'),
    '<msup><mn>10000</mn><mrow><mn>2</mn><mi>i</mi><mo>/</mo><mi>d</mi></mrow></msup>');
  assert.equal(written('W_Q'), '<msub><mi>W</mi><mi>Q</mi></msub>');
  assert.equal(written('x_i^2'), '<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>');
  assert.equal(written('Kᵀ'), written('K^T'));
  assert.equal(written('b₁²'), written('b_1^2'));
  assert.equal(written('e⁻ˣ'), written('e^(−x)'));
});

test('braces hold a fraction, or group what a root covers', () => {
  assert.equal(written('{a + 1 / √d}'),
    '<mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><msqrt><mi>d</mi></msqrt></mfrac>');
  assert.equal(written('√{x + 1}'), '<msqrt><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></msqrt>');
  assert.equal(written('a / b'), '<mi>a</mi><mo>/</mo><mi>b</mi>');
});

test('names of several letters are one, and a minus behind an operator is a sign', () => {
  assert.equal(written('min-p'), '<mi>min-p</mi>');
  assert.equal(written('Δw = −η'), '<mi>Δ</mi><mi>w</mi><mo>=</mo><mo prefix>−</mo><mi>η</mi>');
  assert.equal(written('h′ v̂'), '<mi>h′</mi><mtext>\u2009</mtext><mi>v̂</mi>');
});

test('spaces around operators are left to the browser, two set formulas apart', () => {
  assert.equal(written('a = b,  c'), '<mi>a</mi><mo>=</mo><mi>b</mi><mo>,</mo><mtext>\u2003</mtext><mi>c</mi>');
});

test('every bracket of the glossary’s formulas is closed, and nothing is lost', () => {
  const plain = (/** @type {string} */ text) => text.replaceAll(/[\s{}^_()/√]/gu, '');
  const textOf = (/** @type {import('../../../ui/kit/js/formula.js').MathNode} */ { text = '', children = [] }) => text + children.map(textOf).join('');
  const lowered = (/** @type {string} */ text) => text.replaceAll(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁻ˣᵀᵗ₀₁₂₃₄₅₆₇₈₉ᵢⱼ]/gu, (sign) => sign.normalize('NFKC').replace('-', '−'));
  for (const { formula = '' } of Object.values(ENTRIES)) {
    assert.equal(plain(parseFormula(formula).map(textOf).join('')), plain(lowered(formula)));
  }
});
