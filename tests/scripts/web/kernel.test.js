import assert from 'node:assert/strict';
import test from 'node:test';

import { Memory } from '../../../web/model/memory.js';
import { widen } from '../../../web/model/weights.js';

const ROWS = 8, COLUMNS = 24, COUNT = 3;

/** The same numbers every time, from -1 to 1. @param {number} i */
const noise = (i) => Math.sin(12.9898 * (i + 1));

/** The obvious loop. @param {(i: number) => number} matrix @param {Float32Array} vectors */
const product = (matrix, vectors) => Array.from({ length: COUNT * ROWS }).map((_, i) => {
  const vector = Math.floor(i / ROWS), row = i % ROWS;
  let sum = 0;
  for (let column = 0; column < COLUMNS; column++) sum += matrix(row * COLUMNS + column) * vectors[vector * COLUMNS + column];
  return sum;
});

/** @param {Float32Array} found @param {number[]} expected */
const assertNear = (found, expected) => expected.forEach((number, i) => assert.ok(Math.abs(found[i] - number) < 1e-5 * Math.max(1, Math.abs(number))));

const memory = await Memory.of(10_000);
const vectors = memory.floats(COUNT * COLUMNS), outputs = memory.floats(COUNT * ROWS);
vectors.forEach((_, i) => { vectors[i] = noise(i); });

test('a matrix in single precision is multiplied as by the obvious loop', () => {
  const matrix = memory.floats(ROWS * COLUMNS).map(noise), placed = memory.floats(ROWS * COLUMNS);
  placed.set(matrix);
  memory.kernel.multiply(placed.byteOffset, 4 * COLUMNS, vectors.byteOffset, outputs.byteOffset, ROWS, COLUMNS, COUNT);
  assertNear(outputs, product((i) => matrix[i], vectors));
});

test('a matrix in half precision is, too: negative numbers, zeros, and the smallest and largest ones', () => {
  const extremes = [0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff];
  const halves = Uint16Array.from({ length: ROWS * COLUMNS }, (_, i) => extremes[i] ?? (7919 * i) % 0x5000 | (i % 2 ? 0x8000 : 0));
  const placed = memory.bytes(2 * halves.length);
  placed.set(new Uint8Array(halves.buffer));
  memory.kernel.multiplyHalf(placed.byteOffset, 2 * COLUMNS, vectors.byteOffset, outputs.byteOffset, ROWS, COLUMNS, COUNT);
  assertNear(outputs, product((i) => widen(halves[i]), vectors));
  assert.deepEqual([0x3c00, 0xc000, 0x0001, 0x7bff].map(widen), [1, -2, 2 ** -24, 65_504]);
});

test('rows may lie farther apart than they are long', () => {
  const matrix = memory.floats(ROWS * 2 * COLUMNS);
  matrix.forEach((_, i) => { matrix[i] = noise(i); });
  memory.kernel.multiply(matrix.byteOffset, 8 * COLUMNS, vectors.byteOffset, outputs.byteOffset, ROWS, COLUMNS, COUNT);
  assertNear(outputs, product((i) => noise(2 * COLUMNS * Math.floor(i / COLUMNS) + (i % COLUMNS)), vectors));
});
