import assert from 'node:assert/strict';
import test from 'node:test';

import { placeOf } from '../../../web/model/kernel.js';
import { widen } from '../../../web/model/layers.js';
import { Memory } from '../../../web/model/memory.js';

const ROWS = 8, COLUMNS = 24, COUNT = 3, SIZE = ROWS * COLUMNS;

/** The same numbers every time, from -1 to 1. @param {number} i */
const noise = (i) => Math.sin(12.9898 * (i + 1));

/** The obvious loops. @param {(row: number, column: number) => number} matrix @param {Float32Array} vectors */
function product(matrix, vectors) {
  return Array.from({ length: COUNT * ROWS }).map((_, i) => {
    const vector = COLUMNS * Math.floor(i / ROWS);
    let sum = 0;
    for (let column = 0; column < COLUMNS; column++) sum += matrix(i % ROWS, column) * vectors[vector + column];
    return sum;
  });
}

/** @param {Float32Array} found @param {number[]} expected */
const assertNear = (found, expected) => expected.forEach((number, i) => assert.ok(Math.abs(found[i] - number) < 1e-5 * Math.max(1, Math.abs(number))));

const memory = await Memory.of(10_000);
const vectors = memory.floats(COUNT * COLUMNS), outputs = memory.floats(COUNT * ROWS);
vectors.forEach((_, i) => { vectors[i] = noise(i); });

test('each number of a matrix has a place of its own, four rows and eight columns at a time', () => {
  const places = Array.from({ length: SIZE }).map((_, i) => placeOf(Math.floor(i / COLUMNS), i % COLUMNS, COLUMNS));
  assert.deepEqual(places.toSorted((a, b) => a - b), [...places.keys()]);
  assert.deepEqual([[0, 7], [1, 0], [3, 7], [0, 8], [4, 0]].map(([row, column]) => placeOf(row, column, COLUMNS)), [7, 8, 31, 32, 4 * COLUMNS]);
});

test('a matrix in single precision is multiplied as by the obvious loops', () => {
  const matrix = memory.floats(SIZE);
  matrix.forEach((_, i) => { matrix[i] = noise(i); });
  memory.kernel.multiply(matrix.byteOffset, 4 * 4 * COLUMNS, vectors.byteOffset, outputs.byteOffset, ROWS, COLUMNS, COUNT);
  assertNear(outputs, product((row, column) => matrix[placeOf(row, column, COLUMNS)], vectors));
});

test('a matrix in half precision is, too: negative numbers, zeros, and the smallest and largest ones', () => {
  const extremes = [0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff], content = memory.bytes(2 * SIZE);
  const halves = new Uint16Array(content.buffer, content.byteOffset, SIZE);
  halves.forEach((_, i) => { halves[i] = extremes[i] ?? ((7919 * i) % 0x5000) | (i % 2 ? 0x8000 : 0); });
  memory.kernel.multiplyHalf(content.byteOffset, 2 * 4 * COLUMNS, vectors.byteOffset, outputs.byteOffset, ROWS, COLUMNS, COUNT);
  assertNear(outputs, product((row, column) => widen(halves[placeOf(row, column, COLUMNS)]), vectors));
  assert.deepEqual([0x3c00, 0xc000, 0x0001, 0x7bff].map(widen), [1, -2, 2 ** -24, 65_504]);
});

test('a matrix may be the beginning of one with more columns', () => {
  const wide = 2 * COLUMNS, matrix = memory.floats(ROWS * wide);
  matrix.forEach((_, i) => { matrix[i] = noise(i); });
  memory.kernel.multiply(matrix.byteOffset, 4 * 4 * wide, vectors.byteOffset, outputs.byteOffset, ROWS, COLUMNS, COUNT);
  assertNear(outputs, product((row, column) => matrix[placeOf(row, column, wide)], vectors));
});
