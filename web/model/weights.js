/**
 * The weights of a model, as a safetensors file holds them: the length of a header, the header in JSON, which says where
 * each tensor lies, and the numbers, here all in half precision. Matrices stay in half precision.
 */

import { Linear, Norm } from './layers.js';

/** @typedef {import('./memory.js').Memory} Memory */

/** A number in half precision: a sign, five bits of exponent and ten of fraction. @param {number} bits */
export function widen(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = (bits & 1023) / 1024;
  return exponent ? sign * 2 ** (exponent - 15) * (1 + fraction) : sign * 2 ** -14 * fraction;
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
    const address = this.data.byteOffset + begin;
    return { shape: entry.shape, address, numbers: new Uint16Array(this.memory.buffer, address, (end - begin) / 2) };
  }

  /** A vector in single precision, or null where there is none. @param {string} name */
  vector(name) {
    return this.has(name) ? Float32Array.from(this.#tensor(name).numbers, widen) : null;
  }

  /** A linear layer by its prefix, such as `blocks.0.attention.o_proj`. @param {string} prefix */
  linear(prefix) {
    const { shape: [rows, columns], address } = this.#tensor(`${prefix}.weight`);
    return new Linear(this.memory.kernel.multiplyHalf, { address, rows, columns }, this.vector(`${prefix}.bias`));
  }

  /** LayerNorm where it has biases, else RMSNorm. @param {string} prefix @param {number} epsilon */
  norm(prefix, epsilon) {
    return new Norm(this.vector(`${prefix}.weight`), this.vector(`${prefix}.bias`), epsilon);
  }

  /** The embeddings: numbers in half precision, one row for each token. @param {string} prefix */
  table(prefix) {
    return this.#tensor(`${prefix}.weight`).numbers;
  }
}
