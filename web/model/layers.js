/**
 * The parts of a block besides attention: linear layers, norms and the activation. Each works on several vectors, one
 * after the other in an array.
 *
 * Shapes: T vectors, W model width, F feed-forward width.
 */

import { placeOf } from './kernel.js';

/** @typedef {import('./kernel.js').Multiply} Multiply */
/** @typedef {'relu' | 'swiglu'} Activation */

export class Linear {
  /**
   * @param {Multiply} multiply
   * @param {{codes: Int8Array, stride: number, rows: number}} weight in 8 bits and in the kernel's order, with its scales
   * @param {Float32Array | null} bias
   */
  constructor(multiply, { codes, stride, rows }, bias) {
    this.multiply = multiply;
    this.codes = codes;
    this.stride = stride; // bytes of four rows and their four scales
    this.rows = rows;
    this.columns = stride / 4 - 4;
    this.bias = bias;
  }

  /** @param {Float32Array} vectors (T, columns) @param {Float32Array} outputs (T, rows) @param {number} count T */
  apply(vectors, outputs, count) {
    const { codes, stride, rows, columns, bias } = this;
    this.multiply(codes.byteOffset, stride, vectors.byteOffset, outputs.byteOffset, rows, columns, count);
    if (bias) for (let i = 0; i < count * rows; i++) outputs[i] += bias[i % rows];
  }

  /** A row of the weight; of embeddings it is a token's. @param {number} number @returns {Float32Array} (columns,) */
  row(number) {
    const { codes, stride, columns } = this, start = stride * (number >> 2), one = number & 3;
    const scale = new Float32Array(codes.buffer, codes.byteOffset + start + 4 * columns, 4)[one];
    return Float32Array.from({ length: columns }, (_, column) => scale * codes[start + placeOf(one, column, columns)]);
  }
}

export class Norm {
  /** @param {Float32Array} gain (W,) @param {Float32Array | null} bias (W,); without, it is RMSNorm @param {number} epsilon */
  constructor(gain, bias, epsilon) {
    this.gain = gain;
    this.bias = bias;
    this.epsilon = epsilon;
  }

  /** @param {Float32Array} vectors (T, W) @param {Float32Array} outputs the same, or the vectors themselves @param {number} count T */
  apply(vectors, outputs, count) {
    const { gain, bias, epsilon } = this, width = gain.length;
    for (let start = 0; start < count * width; start += width) {
      let mean = 0, squares = 0;
      if (bias) {
        for (let i = 0; i < width; i++) mean += vectors[start + i];
        mean /= width;
      }
      for (let i = 0; i < width; i++) squares += (vectors[start + i] - mean) ** 2;
      const inverse = 1 / Math.sqrt(squares / width + epsilon);
      for (let i = 0; i < width; i++) outputs[start + i] = (vectors[start + i] - mean) * inverse * gain[i] + (bias ? bias[i] : 0);
    }
  }
}

/**
 * The activation of a feed-forward layer.
 * @param {Activation} activation
 * @param {Float32Array} wide (T, F), or (T, 2F) with the gate first for SwiGLU
 * @param {Float32Array} outputs (T, F)
 * @param {number} count T
 * @param {number} width F
 */
export function activate(activation, wide, outputs, count, width) {
  if (activation === 'relu') {
    for (let i = 0; i < count * width; i++) outputs[i] = Math.max(wide[i], 0);
    return;
  }
  for (let vector = 0; vector < count; vector++) {
    const gate = 2 * vector * width, up = gate + width, out = vector * width;
    for (let i = 0; i < width; i++) {
      const x = wide[gate + i];
      outputs[out + i] = (x / (1 + Math.exp(-x))) * wide[up + i]; // silu(gate) * up
    }
  }
}

/** a += b @param {Float32Array} a @param {Float32Array} b @param {number} length */
export function addTo(a, b, length) {
  for (let i = 0; i < length; i++) a[i] += b[i];
}
