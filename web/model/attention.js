/**
 * Scaled dot-product attention of single queries, and the keys and values that they look at.
 *
 * Both of its products are matrices times a vector, which the kernel computes: the keys of a head times the query, and
 * the values times the weights. For the second, values are stored as columns. Both matrices are in the kernel's order.
 *
 * Shapes: K keys, H heads, D head width.
 */

import { placeOf } from './kernel.js';

/** @typedef {import('./memory.js').Memory} Memory */

/** @param {number} number rounded up, as the kernel needs it */
const padded = (number) => 8 * Math.ceil(number / 8);

/** Where a token's attention is kept: (layers, heads, keys). @typedef {{weights: Float32Array, keys: number}} AttentionRecord */

/** The keys and values of one text, in all layers. */
export class KeysAndValues {
  /** @param {Memory} memory @param {number} layers @param {number} heads @param {number} headWidth @param {number} capacity keys */
  constructor(memory, layers, heads, headWidth, capacity) {
    const size = layers * heads * headWidth * capacity;
    this.keys = memory.floats(size); // (layers, heads, capacity, D)
    this.values = memory.floats(size); // (layers, heads, D, capacity)
    this.capacity = capacity;
    this.heads = heads;
    this.headWidth = headWidth;
    this.parts = layers * heads;
  }

  /** Bytes that one text needs. @param {number} layers @param {number} heads @param {number} headWidth @param {number} capacity */
  static bytes(layers, heads, headWidth, capacity) {
    return 2 * 4 * layers * heads * headWidth * capacity;
  }

  /**
   * Store the key and the value of one token in one layer.
   * @param {number} layer
   * @param {number} position
   * @param {Float32Array} vector that holds the keys of all heads, then the values
   * @param {number} start of the keys
   */
  write(layer, position, vector, start) {
    const { keys, values, capacity, heads, headWidth } = this;
    for (let head = 0; head < heads; head++) {
      const place = (layer * heads + head) * capacity * headWidth;
      const key = start + head * headWidth, value = key + heads * headWidth;
      for (let i = 0; i < headWidth; i++) {
        keys[place + placeOf(position, i, headWidth)] = vector[key + i];
        values[place + placeOf(i, position, capacity)] = vector[value + i];
      }
    }
  }

  /** Become a copy of another text's first tokens. @param {KeysAndValues} other @param {number} length */
  copy(other, length) {
    const { capacity, headWidth } = this, size = capacity * headWidth, columns = padded(length);
    for (let start = 0; start < this.parts * size; start += size) {
      this.keys.set(other.keys.subarray(start, start + columns * headWidth), start);
      for (let rows = start; rows < start + size; rows += 4 * capacity) this.values.set(other.values.subarray(rows, rows + 4 * columns), rows);
    }
  }
}

/** Attention of one query at a time. */
export class Attention {
  /** @param {Memory} memory @param {number} headWidth @param {number} capacity the most keys */
  constructor(memory, headWidth, capacity) {
    this.multiply = memory.kernel.multiply;
    this.query = memory.floats(headWidth);
    this.weights = memory.floats(padded(capacity));
    this.headOutput = memory.floats(headWidth);
  }

  /**
   * softmax(q k / sqrt(D)) v, for every head (Vaswani et al., 2017, section 3.2.1).
   * @param {KeysAndValues} text
   * @param {number} layer
   * @param {number} length K, the keys that the query may see
   * @param {Float32Array} queries (H * D,) of one token
   * @param {Float32Array} outputs (H * D,) what the heads found
   * @param {AttentionRecord | null} record gets the weights of every head
   * @param {number} [first] key of the record that they begin at
   */
  attend(text, layer, length, queries, outputs, record, first = 0) {
    const { query, weights, headOutput, multiply } = this, { heads, headWidth, capacity } = text;
    const scale = 1 / Math.sqrt(headWidth), keys = padded(length);
    for (let head = 0; head < heads; head++) {
      const place = 4 * (layer * heads + head) * capacity * headWidth; // bytes
      for (let i = 0; i < headWidth; i++) query[i] = scale * queries[head * headWidth + i];
      multiply(text.keys.byteOffset + place, 4 * 4 * headWidth, query.byteOffset, weights.byteOffset, keys, headWidth, 1);
      softmax(weights, length);
      weights.fill(0, length, keys);
      multiply(text.values.byteOffset + place, 4 * 4 * capacity, weights.byteOffset, headOutput.byteOffset, headWidth, keys, 1);
      outputs.set(headOutput, head * headWidth);
      if (record) record.weights.set(weights.subarray(0, length), (layer * heads + head) * record.keys + first);
    }
  }
}

/** Replace the first `length` scores by their softmax. @param {Float32Array} scores @param {number} length */
function softmax(scores, length) {
  let highest = -Infinity, total = 0;
  for (let i = 0; i < length; i++) highest = Math.max(highest, scores[i]);
  for (let i = 0; i < length; i++) total += scores[i] = Math.exp(scores[i] - highest);
  for (let i = 0; i < length; i++) scores[i] /= total;
}
