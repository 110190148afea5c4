/**
 * A block of a transformer: attention, cross-attention where there is a source, and the feed-forward layer, each added to
 * the residual stream and normed before or after.
 *
 * Shapes: T tokens fed in this pass, W model width, H heads, D head width, F feed-forward width.
 */

import { activate, addTo } from './layers.js';
import { rotate } from './positions.js';

/** @typedef {import('./attention.js').KeysAndValues} KeysAndValues */
/** @typedef {import('./memory.js').Memory} Memory */
/** @typedef {import('./weights.js').Weights} Weights */
/** @typedef {import('./transformer.js').Config} Config */
/**
 * What the parts of a block need to know of a pass; lists have one entry for each of the T tokens.
 * @typedef {object} Pass
 * @property {Scratch} scratch
 * @property {import('./attention.js').Attention} attention
 * @property {ReturnType<import('./positions.js').rotaryTables> | null} rotary
 * @property {number} layer
 * @property {KeysAndValues[]} texts that the tokens belong to
 * @property {number[]} positions
 * @property {number[]} lengths how many keys of its text each token may see
 * @property {(import('./attention.js').AttentionRecord | null)[]} records of their attention
 * @property {{text: KeysAndValues, length: number} | null} source for cross-attention
 */

/**
 * Room for what is only needed within a part of a block, so all blocks share it.
 * @typedef {ReturnType<typeof makeScratch>} Scratch
 * @param {Memory} memory
 * @param {Config} config
 * @param {number} atOnce the most tokens of a pass
 */
export function makeScratch(memory, { width, heads, head_width: headWidth, feed_forward_width: wide }, atOnce) {
  return {
    normed: memory.floats(atOnce * width), // (T, W): what a part reads
    update: memory.floats(atOnce * width), // (T, W): what it adds
    projected: memory.floats(atOnce * 3 * heads * headWidth), // (T, 3 * H * D): queries, keys, values
    mixed: memory.floats(atOnce * heads * headWidth), // (T, H * D): what the heads found
    up: memory.floats(atOnce * 2 * wide), // (T, F or 2F)
    activated: memory.floats(atOnce * wide), // (T, F)
  };
}

class SelfAttention {
  /** @param {string} prefix @param {Config} config @param {Weights} weights */
  constructor(prefix, config, weights) {
    this.qkv = weights.linear(`${prefix}.qkv_proj`);
    this.output = weights.linear(`${prefix}.o_proj`);
    this.heads = config.heads;
    this.headWidth = config.head_width;
  }

  /** @param {Float32Array} vectors (T, W) @param {Float32Array} outputs (T, W) @param {number} count T @param {Pass} pass */
  apply(vectors, outputs, count, { scratch: { projected, mixed }, attention, rotary, layer, texts, positions, lengths, records, source }) {
    const { heads, headWidth } = this, width = heads * headWidth;
    this.qkv.apply(vectors, projected, count);
    for (let token = 0; token < count; token++) {
      const start = 3 * width * token;
      if (rotary) { // queries and keys, which stand together
        for (let head = 0; head < 2 * heads; head++) rotate(projected, start + head * headWidth, positions[token], rotary, headWidth / 2);
      }
      texts[token].write(layer, positions[token], projected, start + width);
    }
    for (let token = 0; token < count; token++) {
      const queries = projected.subarray(3 * width * token, width * (3 * token + 1)), headOutputs = mixed.subarray(width * token, width * (token + 1));
      attention.attend(texts[token], layer, lengths[token], queries, headOutputs, records[token], source?.length); // the source's keys come first
    }
    this.output.apply(mixed, outputs, count);
  }
}

class CrossAttention {
  /** @param {string} prefix @param {Config} config @param {Weights} weights */
  constructor(prefix, config, weights) {
    this.query = weights.linear(`${prefix}.q_proj`);
    this.keysValues = weights.linear(`${prefix}.kv_proj`);
    this.output = weights.linear(`${prefix}.o_proj`);
    this.width = config.heads * config.head_width;
  }

  /**
   * Store the keys and values of a source.
   * @param {Float32Array} encoded (S, W)
   * @param {number} length S
   * @param {number} layer
   * @param {KeysAndValues} text
   * @param {Scratch} scratch
   */
  read(encoded, length, layer, text, { projected }) {
    this.keysValues.apply(encoded, projected, length);
    for (let token = 0; token < length; token++) text.write(layer, token, projected, 2 * this.width * token);
  }

  /** @param {Float32Array} vectors (T, W) @param {Float32Array} outputs (T, W) @param {number} count T @param {Pass} pass */
  apply(vectors, outputs, count, { scratch: { projected, mixed }, attention, layer, records, source }) {
    this.query.apply(vectors, projected, count);
    for (let token = 0; token < count; token++) {
      const start = this.width * token, end = start + this.width;
      attention.attend(source.text, layer, source.length, projected.subarray(start, end), mixed.subarray(start, end), records[token]);
    }
    this.output.apply(mixed, outputs, count);
  }
}

class FeedForward {
  /** @param {string} prefix @param {Config} config @param {Weights} weights */
  constructor(prefix, config, weights) {
    this.up = weights.linear(`${prefix}.up_proj`);
    this.down = weights.linear(`${prefix}.down_proj`);
    this.activation = config.activation;
    this.width = config.feed_forward_width;
  }

  /** @param {Float32Array} vectors (T, W) @param {Float32Array} outputs (T, W) @param {number} count T @param {Pass} pass */
  apply(vectors, outputs, count, { scratch: { up, activated } }) {
    this.up.apply(vectors, up, count);
    activate(this.activation, up, activated, count, this.width);
    this.down.apply(activated, outputs, count);
  }
}

export class Block {
  /** @param {string} prefix of its weights @param {Config} config @param {Weights} weights */
  constructor(prefix, config, weights) {
    const part = (Part, name) => new Part(`${prefix}.${name}`, config, weights);
    const norm = (name) => weights.norm(`${prefix}.${name}_norm`, config.norm_epsilon);
    this.normFirst = config.norm_place === 'before';
    this.attention = { part: part(SelfAttention, 'attention'), norm: norm('attention') };
    this.cross = weights.has(`${prefix}.cross.q_proj.weight`) ? part(CrossAttention, 'cross') : null;
    this.crossNorm = this.cross ? norm('cross') : null;
    this.feedForward = { part: part(FeedForward, 'feed_forward'), norm: norm('feed_forward') };
  }

  /** @param {Float32Array} hidden (T, W), changed in place @param {number} count T @param {Pass} pass */
  apply(hidden, count, pass) {
    this.#add(hidden, count, pass, this.attention);
    if (this.cross) this.#add(hidden, count, pass, { part: this.cross, norm: this.crossNorm });
    this.#add(hidden, count, pass, this.feedForward);
  }

  /**
   * @param {Float32Array} hidden
   * @param {number} count
   * @param {Pass} pass
   * @param {{part: any, norm: import('./layers.js').Norm}} sublayer
   */
  #add(hidden, count, pass, { part, norm }) {
    const { normed, update } = pass.scratch;
    if (this.normFirst) norm.apply(hidden, normed, count);
    part.apply(this.normFirst ? normed : hidden, update, count, pass);
    addTo(hidden, update, count * norm.gain.length);
    if (!this.normFirst) norm.apply(hidden, hidden, count);
  }
}
