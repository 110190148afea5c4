/**
 * The memory in which the kernel finds matrices and vectors, handed out piece by piece and never taken back.
 *
 * A piece is a typed array over that memory, so scripts use it like any other, and the kernel by its `byteOffset`.
 */

import { loadKernel } from './kernel.js';

const PAGE = 65_536; // bytes
const ALIGNMENT = 16; // bytes

/** @typedef {import('./kernel.js').Multiply} Multiply */

export class Memory {
  /** @param {WebAssembly.Memory} memory @param {{multiply: Multiply, multiplyBytes: Multiply}} kernel */
  constructor(memory, kernel) {
    this.buffer = memory.buffer;
    this.kernel = kernel;
    this.used = 0; // bytes
  }

  /** A browser only allocates the parts that are written to. @param {number} bytes that will be handed out */
  static async of(bytes) {
    const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) + 1 });
    return new Memory(memory, await loadKernel(memory));
  }

  /** Room for numbers, all 0. @param {number} count */
  floats(count) {
    return new Float32Array(this.buffer, this.take(4 * count), count);
  }

  /** Room for bytes. @param {number} count */
  bytes(count) {
    return new Uint8Array(this.buffer, this.take(count), count);
  }

  /** @param {number} bytes */
  take(bytes) {
    const start = this.used;
    this.used = ALIGNMENT * Math.ceil((start + bytes) / ALIGNMENT);
    if (this.used > this.buffer.byteLength) throw new Error(`The model needs more memory than was planned: ${this.used} bytes.`);
    return start;
  }
}
