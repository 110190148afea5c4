import assert from 'node:assert/strict';
import test from 'node:test';

import { placeOf } from '../../../web/model/kernel.js';
import { Linear } from '../../../web/model/layers.js';
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

/** @param {Float32Array} actual @param {number[]} expected */
const assertNear = (actual, expected) => expected.forEach((number, i) => assert.ok(Math.abs(actual[i] - number) < 1e-5 * Math.max(1, Math.abs(number))));

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

test('a matrix in 8 bits is, too, with a scale for each row', () => {
  const stride = 4 * COLUMNS + 16, codes = new Int8Array(memory.buffer, memory.take((ROWS / 4) * stride), (ROWS / 4) * stride);
  const scales = Array.from({ length: ROWS / 4 }).map((_, group) => new Float32Array(codes.buffer, codes.byteOffset + group * stride + 4 * COLUMNS, 4));
  const linear = new Linear(memory.kernel.multiplyBytes, { codes, stride, rows: ROWS }, Float32Array.from({ length: ROWS }, (_, row) => row));
  const code = (row, column) => [-127, 127, 0, -1][(row + column) % 7] ?? ((31 * row * column) % 255) - 127;
  for (let row = 0; row < ROWS; row++) {
    scales[row >> 2][row & 3] = 0.01 * (row + 1);
    for (let column = 0; column < COLUMNS; column++) codes[16 * (row >> 2) + placeOf(row, column, COLUMNS)] = code(row, column);
  }
  const weight = (row, column) => Math.fround(0.01 * (row + 1)) * code(row, column);
  linear.apply(vectors, outputs, COUNT);
  assertNear(outputs, product(weight, vectors).map((sum, i) => sum + (i % ROWS)));
  for (const row of [0, 3, 6]) assert.deepEqual(linear.row(row), Float32Array.from({ length: COLUMNS }, (_, column) => weight(row, column)));
});

test('a matrix may be the beginning of one with more columns', () => {
  const wide = 2 * COLUMNS, matrix = memory.floats(ROWS * wide);
  matrix.forEach((_, i) => { matrix[i] = noise(i); });
  memory.kernel.multiply(matrix.byteOffset, 4 * 4 * wide, vectors.byteOffset, outputs.byteOffset, ROWS, COLUMNS, COUNT);
  assertNear(outputs, product((row, column) => matrix[placeOf(row, column, wide)], vectors));
});
