/**
 * The loop that has to be fast, a matrix times some vectors, as WebAssembly. It is written out here instruction by
 * instruction, so there is nothing to build. Four numbers are computed at once, and four rows share each load of a vector.
 *
 *     multiply(matrix, stride, vectors, outputs, rows, columns, count)
 *
 * A matrix lies in memory in the order in which it is read: four rows at a time, of these eight columns at a time, of
 * these one row after the other (`placeOf`). Processors fetch such a sequence ahead. `stride` is the bytes from four rows
 * to the next four; `vectors` holds `count` vectors, one after the other, and so does `outputs`. The first four arguments
 * are in bytes, and numbers of rows are multiples of four, of columns multiples of eight. Each group of rows is read once
 * for all vectors, so many tokens at once cost less than one after the other.
 *
 * There are two functions: `multiply` takes a matrix in single precision, `multiplyBytes` one in 8 bits, whose numbers are
 * whole ones, to be multiplied by the scale of their row: the scales of four rows follow these rows. Scales, vectors and
 * outputs are in single precision.
 */

/**
 * Where a number of a matrix is, counted in numbers.
 * @param {number} row
 * @param {number} column
 * @param {number} columns how many there are
 */
export const placeOf = (row, column, columns) => 4 * columns * (row >> 2) + 32 * (column >> 3) + 8 * (row & 3) + (column & 7);

const I32 = 0x7f, V128 = 0x7b, FUNCTION = 0x60; // types

/** A whole number in as many bytes as it needs, seven bits in each (LEB128). @param {number} value @returns {number[]} */
const unsigned = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)]);
/** Parts after their number. @param {number[][]} parts */
const list = (parts) => [...unsigned(parts.length), ...parts.flat()];
/** Bytes after their number. @param {number[]} content */
const sized = (content) => [...unsigned(content.length), ...content];
/** @param {string} text */
const ascii = (text) => [...text].map((letter) => letter.charCodeAt(0));

const PARAMETERS = ['matrix', 'stride', 'vectors', 'outputs', 'rows', 'columns', 'count'];
const ADDRESSES = ['last', 'end', 'vector', 'output', 'left', 'x', 'place']; // x walks along a vector, place along four rows
const FOURS = ['sumA', 'sumB', 'sumC', 'sumD', 'numbers', 'pairs']; // four numbers each
const VARIABLES = [...PARAMETERS, ...ADDRESSES, ...FOURS];
const SUMS = FOURS.slice(0, 4); // of the four rows

/** @param {string} name */
const get = (name) => [0x20, VARIABLES.indexOf(name)];
/** @param {string} name @param {number[]} value */
const set = (name, value) => [...value, 0x21, VARIABLES.indexOf(name)];
/** @param {number} value from -64 to 63, or a positive number of two times seven bits */
const constant = (value) => [0x41, ...(value < 64 ? [value & 127] : [(value & 127) | 128, value >> 7])];
/** @param {number[]} a @param {number[]} b */
const add = (a, b) => [...a, ...b, 0x6a];
/** @param {number[]} a @param {number} bits */
const shiftLeft = (a, bits) => [...a, ...constant(bits), 0x74];
/** @param {string} name @param {number[]} value */
const advance = (name, value) => set(name, add(get(name), value));
/** @param {string} a @param {string} b */
const below = (a, b) => [...get(a), ...get(b), 0x49];
/** Runs at least once, and again while the condition holds. @param {number[]} body @param {number[]} condition */
const repeat = (body, condition) => [0x03, 0x40, ...body, ...condition, 0x0d, 0, 0x0b];

// Instructions on four float32 numbers.
/** @param {number[]} code */
const simd = (...code) => [0xfd, ...code];
const ZEROS = simd(0x0c, ...Array(16).fill(0));
/** @param {string} address @param {number} [offset] in bytes */
const load = (address, offset = 0) => [...get(address), ...simd(0x00, 2, offset)];
/** @param {string} address @param {number[]} value */
const store = (address, value) => [...get(address), ...value, ...simd(0x0b, 2, 0)];
/** @param {number[]} a @param {number[]} b */
const plus = (a, b) => [...a, ...b, ...simd(...unsigned(0xe4))];
/** @param {number[]} a @param {number[]} b */
const times = (a, b) => [...a, ...b, ...simd(...unsigned(0xe6))];
/**
 * Four numbers of two fours: 0 to 3 are those of `a`, 4 to 7 those of `b`.
 * @param {number[]} a
 * @param {number[]} b
 * @param {number[]} places
 */
const pick = (a, b, places) => [...a, ...b, ...simd(0x0d, ...places.flatMap((place) => [0, 1, 2, 3].map((byte) => 4 * place + byte)))];
/** (a0 + a2, b0 + b2, a1 + a3, b1 + b3) @param {number[]} a @param {number[]} b */
const halves = (a, b) => plus(pick(a, b, [0, 4, 1, 5]), pick(a, b, [2, 6, 3, 7]));

const SINGLE = { size: 4, read: load, scaled: (/** @type {number[]} */ sums) => sums };
const BYTES = {
  size: 1,
  read: /** @type {typeof load} */ (address, offset) => [
    ...get(address), ...simd(0x5c, 0, offset), // four numbers of 8 bits
    ...simd(...unsigned(0x87)), ...simd(...unsigned(0xa7)), // each widened to 16 bits with its sign, and to 32
    ...simd(...unsigned(0xfa)), // and converted
  ],
  scaled: (/** @type {number[]} */ sums) => times(sums, load('place')), // which has come to the scales
};

/** The code of `multiply`. @param {typeof SINGLE} precision of the matrix */
const multiplyBy = ({ size, read, scaled }) => [
  ...set('last', add(get('outputs'), shiftLeft(get('rows'), 2))),
  ...repeat([ // for each group of four rows
    ...set('vector', get('vectors')),
    ...set('output', get('outputs')),
    ...set('left', get('count')),
    ...repeat([ // for each vector
      ...SUMS.flatMap((sum) => set(sum, ZEROS)),
      ...set('place', get('matrix')),
      ...set('x', get('vector')),
      ...set('end', add(get('vector'), shiftLeft(get('columns'), 2))),
      ...repeat([ // for each group of eight columns
        ...[0, 4].flatMap((column) => [
          ...set('numbers', load('x', 4 * column)),
          ...SUMS.flatMap((sum, row) => set(sum, plus(get(sum), times(read('place', size * (8 * row + column)), get('numbers'))))),
        ]),
        ...advance('place', constant(32 * size)),
        ...advance('x', constant(32)),
      ], below('x', 'end')),
      // Each sum still has four parts: add them up, for all four rows at once.
      ...set('numbers', halves(get('sumA'), get('sumB'))),
      ...set('pairs', halves(get('sumC'), get('sumD'))),
      ...store('output', scaled(plus(pick(get('numbers'), get('pairs'), [0, 1, 4, 5]), pick(get('numbers'), get('pairs'), [2, 3, 6, 7])))),
      ...set('vector', get('end')),
      ...advance('output', shiftLeft(get('rows'), 2)),
      ...advance('left', constant(-1)),
    ], get('left')),
    ...advance('outputs', constant(16)),
    ...advance('matrix', get('stride')),
  ], below('outputs', 'last')),
];

const LOCALS = list([[ADDRESSES.length, I32], [FOURS.length, V128]]);
const FUNCTIONS = [['multiply', SINGLE], ['multiplyBytes', BYTES]];

const MODULE = new Uint8Array([
  0, ...ascii('asm'), 1, 0, 0, 0, // version 1
  1, ...sized(list([[FUNCTION, ...list(PARAMETERS.map(() => [I32])), ...list([])]])), // the type of both functions, without result
  2, ...sized(list([[...sized(ascii('web')), ...sized(ascii('memory')), 2, 0, 1]])), // imports a memory of at least one page
  3, ...sized(list(FUNCTIONS.map(() => [0]))), // the types of the functions
  7, ...sized(list(FUNCTIONS.map(([name], number) => [...sized(ascii(String(name))), 0, number]))), // exports
  10, ...sized(list(FUNCTIONS.map(([, precision]) => sized([...LOCALS, ...multiplyBy(/** @type {any} */ (precision)), 0x0b])))), // code
]);

/**
 * @typedef {(matrix: number, stride: number, vectors: number, outputs: number, rows: number, columns: number,
 *   count: number) => void} Multiply
 * @param {WebAssembly.Memory} memory that holds the matrices and the vectors
 * @returns {Promise<{multiply: Multiply, multiplyBytes: Multiply}>}
 */
export async function loadKernel(memory) {
  const { instance } = await WebAssembly.instantiate(MODULE, { web: { memory } });
  return /** @type {any} */ (instance.exports);
}
