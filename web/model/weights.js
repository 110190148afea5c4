/**
 * The weights of a model, as a safetensors file holds them: the length of a header, the header in JSON, which says where
 * each tensor lies, and the numbers, here all in half precision. Matrices stay in half precision, but are put into the
 * order in which the kernel reads them.
 */

import { placeOf } from './kernel.js';
import { Linear, Norm, widen } from './layers.js';

/** @typedef {import('./memory.js').Memory} Memory */

/** Put a matrix that lies row by row into the order of `placeOf`. @param {Uint16Array} halves @param {number} columns */
function arrange(halves, columns) {
  const pairs = new Int32Array(halves.buffer, halves.byteOffset, halves.length / 2), size = 2 * columns; // pairs of four rows
  const rows = new Int32Array(size);
  for (let start = 0; start < pairs.length; start += size) {
    rows.set(pairs.subarray(start, start + size));
    for (let row = 0; row < 4; row++) {
      for (let pair = 0; pair < columns / 2; pair++) pairs[start + placeOf(row, 2 * pair, columns) / 2] = rows[(row * columns) / 2 + pair];
    }
  }
}

export class Weights {
  /** @param {Uint8Array} file @param {Memory} memory that gets a copy */
  constructor(file, memory) {
    const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
    const start = 8 + Number(view.getBigUint64(0, true));
    this.header = JSON.parse(new TextDecoder().decode(file.subarray(8, start)));
    this.memory = memory;
    this.data = memory.bytes(file.byteLength - start);
    this.data.set(file.subarray(start));
  }

  /** @param {string} name */
  has(name) {
    return name in this.header;
  }

  /** @param {string} name */
  #tensor(name) {
    const entry = this.header[name];
    if (entry?.dtype !== 'F16') throw new Error(`The weights have no ${name} in half precision: export the model again.`);
    const [begin, end] = entry.data_offsets;
    return { shape: entry.shape, numbers: new Uint16Array(this.memory.buffer, this.data.byteOffset + begin, (end - begin) / 2) };
  }

  /** A vector in single precision, or null where there is none. @param {string} name */
  vector(name) {
    return this.has(name) ? Float32Array.from(this.#tensor(name).numbers, widen) : null;
  }

  /** A linear layer by its prefix, such as `blocks.0.attention.o_proj`; each is asked for once. @param {string} prefix */
  linear(prefix) {
    const { shape: [rows, columns], numbers } = this.#tensor(`${prefix}.weight`);
    arrange(numbers, columns);
    const weight = { address: numbers.byteOffset, rows, columns, halves: numbers };
    return new Linear(this.memory.kernel.multiplyHalf, weight, this.vector(`${prefix}.bias`));
  }

  /** LayerNorm where it has biases, else RMSNorm. @param {string} prefix @param {number} epsilon */
  norm(prefix, epsilon) {
    return new Norm(this.vector(`${prefix}.weight`), this.vector(`${prefix}.bias`), epsilon);
  }
}
