/**
 * Our transformer in the visitor's browser: a decoder alone or with an encoder, with keys and values kept between passes.
 * Token ids go in, logits come out; it knows nothing of text. The modules of `model/transformer` are its twin in Python.
 *
 * Shapes: T tokens fed in this pass, R rows (the texts that are followed at once), K keys, S tokens of the source,
 * L layers, H heads, W model width, V vocabulary.
 */

import { Attention, KeysAndValues } from './attention.js';
import { Block, makeScratch } from './block.js';
import { Memory } from './memory.js';
import { rotaryTables, sinusoids } from './positions.js';
import { Weights } from './weights.js';

/**
 * What a checkpoint's `config.json` says.
 * @typedef {{vocabulary_size: number, context_length: number, width: number, layers: number, encoder_layers: number,
 *   heads: number, head_width: number, key_value_heads: number, feed_forward_width: number,
 *   positions: 'rotary' | 'sinusoidal', norm: 'rms' | 'layer', norm_place: 'before' | 'after',
 *   activation: import('./layers.js').Activation, norm_epsilon: number, rotary_base: number}} Config
 */
/**
 * The result of a pass for each row: logits (V,), and where its newest token looked: (L, H, keys), the source's keys
 * first.
 * @typedef {{logits: Float32Array[], attention: Float32Array[]}} Forward
 */

const MAX_ROWS = 8; // texts that are followed at once
const AT_ONCE = 32; // tokens of a prompt in one pass, between which a visitor can stop

export class Transformer {
  /** @param {Config} config @param {Uint8Array} file the weights */
  static async of(config, file) {
    const { layers, heads, head_width: headWidth, context_length: length } = config;
    const text = KeysAndValues.bytes(layers, heads, headWidth, length);
    const scratch = 4 * Math.max(AT_ONCE, length) * (8 * config.width + 3 * config.feed_forward_width) + 4 * MAX_ROWS * config.vocabulary_size;
    const memory = await Memory.of(file.byteLength + (MAX_ROWS + 1) * text + scratch);
    return new Transformer(config, new Weights(file, memory), memory);
  }

  /** @param {Config} config @param {Weights} weights @param {Memory} memory */
  constructor(config, weights, memory) {
    const { width, layers, heads, head_width: headWidth, context_length: length, vocabulary_size: vocabulary } = config;
    const isTranslator = config.encoder_layers > 0;
    const atOnce = isTranslator ? length : AT_ONCE; // an encoder reads the whole source in one pass
    const blocks = (prefix, count) => Array.from({ length: count }, (_, layer) => new Block(`${prefix}.${layer}`, config, weights));
    const texts = () => new KeysAndValues(memory, layers, heads, headWidth, length);
    this.config = config;
    this.atOnce = atOnce;
    this.embedding = weights.linear('embedding'); // (V, W), and also the unembedding (Press and Wolf, 2017)
    this.scale = isTranslator ? Math.sqrt(width) : 1;
    this.blocks = blocks('blocks', layers);
    this.encoderBlocks = blocks('encoder_blocks', config.encoder_layers);
    this.finalNorm = config.norm_place === 'before' ? weights.norm('final_norm', config.norm_epsilon) : null;
    this.sinusoids = config.positions === 'sinusoidal' ? sinusoids(length, width) : null; // (positions, W)
    const rotary = config.positions === 'rotary' ? rotaryTables(length, headWidth, config.rotary_base) : null;
    this.shared = { scratch: makeScratch(memory, config, atOnce), attention: new Attention(memory, headWidth, length), rotary };
    this.hidden = memory.floats(atOnce * width); // (T, W)
    this.newest = memory.floats(MAX_ROWS * width); // (R, W)
    this.logits = memory.floats(MAX_ROWS * vocabulary); // (R, V)
    this.texts = Array.from({ length: MAX_ROWS }, texts);
    this.source = isTranslator ? { text: texts(), length: 0, attention: /** @type {Float32Array[]} */ ([]) } : null; // of each token: (L, H, S)
    /** The text of each row, and how many tokens all of them have. */
    this.rows = this.texts.slice(0, 1);
    this.length = 0;
  }

  /** The tokens that the decoder's text begins with where an encoder reads the prompt. */
  get decoderStart() {
    return this.source ? [this.config.vocabulary_size - 1] : [];
  }

  /**
   * Read a prompt or a source, in parts between which it yields. Texts that were followed before are dropped.
   * @param {number[]} prompt
   * @returns {Generator<null, Forward>}
   */
  *prefill(prompt) {
    this.rows = this.texts.slice(0, 1);
    this.length = 0;
    if (this.source) this.#encode(prompt);
    const tokens = this.source ? this.decoderStart : prompt;
    let forward = null;
    for (let first = 0; first < tokens.length; first += this.atOnce) {
      if (first) yield null;
      const fed = tokens.slice(first, first + this.atOnce);
      forward = this.#pass(fed, fed.map(() => this.rows[0]), fed.map((_, i) => first + i));
    }
    return forward;
  }

  /**
   * Append a token to each row.
   * @param {number[]} tokens (R,)
   * @param {number[]} parents the row of the last pass that each of them continues
   * @returns {Forward}
   */
  step(tokens, parents) {
    this.#select(parents);
    return this.#pass(tokens, this.rows, tokens.map(() => this.length));
  }

  /**
   * Keep, repeat, reorder or drop rows: the first child takes over its parent's memory, the others get copies.
   * @param {number[]} parents
   */
  #select(parents) {
    const before = this.rows, free = this.texts.filter((text) => !parents.some((parent) => before[parent] === text));
    this.rows = parents.map((parent, row) => {
      if (parents.indexOf(parent) === row) return before[parent];
      const copy = free.pop();
      copy.copy(before[parent], this.length);
      return copy;
    });
  }

  /**
   * One pass over all layers.
   * @param {number[]} tokens (T,)
   * @param {KeysAndValues[]} texts which each of them belongs to; the tokens of one text stand together
   * @param {number[]} positions
   * @returns {Forward}
   */
  #pass(tokens, texts, positions) {
    const { width, layers, heads, vocabulary_size: vocabulary } = this.config, { source } = this;
    const ends = tokens.flatMap((_, i) => (texts[i] === texts[i + 1] ? [] : [i])); // the newest token of each row
    this.length = positions.at(-1) + 1;
    const keys = (source?.length ?? 0) + this.length;
    const attention = ends.map(() => new Float32Array(layers * heads * keys)); // (L, H, S + K)
    const records = tokens.map((_, i) => (ends.includes(i) ? { weights: attention[ends.indexOf(i)], keys } : null));
    const lengths = positions.map((position) => position + 1); // no token sees a later one
    this.#embed(tokens, positions);
    this.blocks.forEach((block, layer) => (
      block.apply(this.hidden, tokens.length, { ...this.shared, layer, texts, positions, lengths, records, source })));
    ends.forEach((end, row) => this.newest.set(this.hidden.subarray(end * width, (end + 1) * width), row * width));
    this.finalNorm?.apply(this.newest, this.newest, ends.length);
    this.embedding.apply(this.newest, this.logits, ends.length);
    return { logits: ends.map((_, row) => this.logits.slice(row * vocabulary, (row + 1) * vocabulary)), attention };
  }

  /** Keep the keys and values that the decoder's cross-attention looks at. @param {number[]} tokens (S,) of the source */
  #encode(tokens) {
    const positions = tokens.map((_, i) => i), texts = tokens.map(() => this.texts[0]), lengths = tokens.map(() => tokens.length);
    const keys = tokens.length, size = this.config.heads * keys; // numbers in a layer
    const attention = tokens.map(() => new Float32Array(this.encoderBlocks.length * size));
    this.#embed(tokens, positions);
    this.encoderBlocks.forEach((block, layer) => {
      const records = attention.map((weights) => ({ weights: weights.subarray(layer * size), keys }));
      block.apply(this.hidden, keys, { ...this.shared, layer: 0, texts, positions, lengths, records, source: null });
    });
    this.blocks.forEach((block, layer) => block.cross.read(this.hidden, tokens.length, layer, this.source.text, this.shared.scratch));
    Object.assign(this.source, { length: keys, attention });
  }

  /** Into `hidden`, (T, W). @param {number[]} tokens @param {number[]} positions */
  #embed(tokens, positions) {
    const { width } = this.config;
    tokens.forEach((token, row) => {
      const embedding = this.embedding.row(token);
      for (let i = 0; i < width; i++) {
        const added = this.sinusoids ? this.sinusoids[positions[row] * width + i] : 0;
        this.hidden[row * width + i] = this.scale * embedding[i] + added;
      }
    });
  }
}
