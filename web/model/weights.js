/**
 * The weights of a model, as a safetensors file holds them: the length of a header, the header in JSON, which says where
 * each tensor lies, and the numbers. `web/weights.py` has written matrices in 8 bits and in the order in which the kernel
 * reads them, so they are used where they lie; other weights are in single precision.
 */

import { Linear, Norm } from './layers.js';

/** @typedef {import('./memory.js').Memory} Memory */

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

  /** @param {string} name @param {'F32' | 'U8'} type */
  #tensor(name, type) {
    const entry = this.header[name];
    if (entry?.dtype !== type) throw new Error(`The weights have no ${name} of type ${type}: export the model again.`);
    return { shape: entry.shape, address: this.data.byteOffset + entry.data_offsets[0] };
  }

  /** A vector, or null where there is none. @param {string} name */
  vector(name) {
    if (!this.has(name)) return null;
    const { shape: [length], address } = this.#tensor(name, 'F32');
    return new Float32Array(this.memory.buffer, address, length);
  }

  /** A linear layer by its prefix, such as `blocks.0.attention.o_proj`. @param {string} prefix */
  linear(prefix) {
    const { shape: [groups, stride], address } = this.#tensor(`${prefix}.weight`, 'U8');
    const codes = new Int8Array(this.memory.buffer, address, groups * stride);
    return new Linear(this.memory.kernel.multiplyBytes, { codes, stride, rows: 4 * groups }, this.vector(`${prefix}.bias`));
  }

  /** LayerNorm where it has biases, else RMSNorm. @param {string} prefix @param {number} epsilon */
  norm(prefix, epsilon) {
    return new Norm(this.vector(`${prefix}.weight`), this.vector(`${prefix}.bias`), epsilon);
  }
}
