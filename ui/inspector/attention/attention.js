/**
 * Attention in numbers: the bytes of each pass, and the weights of one layer and head or of an average.
 *
 * A pass has one query. In a decoder that is the token before the one it chose, and it attends to keys 0 … query; in an encoder
 * it may be any token, and it attends to all. A byte is 255 times the square root of a weight, so weights are averaged after
 * squaring. A decoder behind an encoder has two kinds of attention in each pass, both of which sum to 1: cross-attention to the
 * source, whose tokens come first, and self-attention to the text so far.
 *
 * @typedef {ReturnType<typeof makeAttention>} Attention
 */

export const AVERAGE = -1;
const ALMOST_ALL = 0.99999; // a byte can't tell it from 1
const MAX_LAYERS_OR_HEADS = 10_000; // layers, or heads of one: a file may name any number

/** @typedef {'cross' | 'self'} AttentionKind */

/**
 * The passes of one run; they are kept while the run is shown, so that an update sends only new ones.
 * @param {(query: number) => number} keysOf how many tokens a query attends to
 */
export function makeAttention(keysOf = (query) => query + 1) {
  /** @type {({text: string, bytes: Uint8Array, view: string, weights: Float32Array} | undefined)[]} by query */
  let passes = [];
  let layers = 0;
  let heads = 0;
  let source = 0;

  /** Forget this pass and all later ones. @param {number} query */
  function cut(query) {
    passes.length = Math.min(passes.length, Math.max(0, query));
  }

  /** Forget all passes but from … end - 1. @param {number} from @param {number} end */
  function keep(from, end) {
    passes.fill(undefined, 0, from);
    cut(end);
  }

  /**
   * Add the passes that have arrived.
   * @param {string[]} rows base64 of (layers, heads, keys)
   * @param {number} from query of the first
   * @param {[number, number]} shape layers and heads
   * @param {number} [tokens] of the source, which come before the others
   */
  function put(rows, from, shape, tokens = 0) {
    const [ofLayers, ofHeads] = Math.max(...shape) > MAX_LAYERS_OR_HEADS ? [0, 0] : shape;
    if (ofLayers !== layers || ofHeads !== heads || tokens !== source) passes = [];
    [layers, heads, source] = [ofLayers, ofHeads, tokens];
    rows.forEach((text, i) => {
      const query = from + i;
      if (passes[query]?.text === text) return;
      const bytes = bytesOf(text);
      // a row of another shape would be drawn as nonsense, so it is left out
      passes[query] = bytes.length === layers * heads * keysOf(query)
        ? { text, bytes, view: '', weights: new Float32Array(0) } : undefined;
    });
  }

  /**
   * The weights of one pass, which sum to 1 over the keys of the kind; null if they are not at hand.
   * @param {number} query @param {number} layer @param {number} head AVERAGE for all of them
   * @param {AttentionKind} [kind]
   */
  function weights(query, layer, head, kind = 'self') {
    const pass = passes[query];
    if (!pass) return null;
    const view = `${layer}/${head}/${kind}`;
    if (pass.view !== view) {
      const keys = keysOf(query);
      const range = kind === 'cross' ? { from: 0, to: source } : { from: source, to: keys };
      pass.weights = mean(pass.bytes, keys, range, indicesOf(layer, layers), indicesOf(head, heads), heads);
      pass.view = view;
    }
    return pass.weights;
  }

  /**
   * How much each pass at hand attended to one key, by query: 0 if it did not, and null if no pass could have.
   * @param {number} key @param {number} layer @param {number} head AVERAGE for all of them
   */
  function received(key, layer, head) {
    const kind = key < source ? 'cross' : 'self';
    const from = passes.findIndex((pass, query) => pass && key < keysOf(query));
    if (from < 0) return null;
    return Float32Array.from(passes, (_, query) => (query < from ? 0 : weights(query, layer, head, kind)?.[key] ?? 0));
  }

  return {
    cut, keep, put, weights, received,
    get first() { return passes.findIndex(Boolean); },
    get end() { return passes.length; },
    get layers() { return layers; },
    get heads() { return heads; },
    get source() { return source; },
  };
}

/** @param {string} text base64; a file may hold anything else, which gives no bytes */
function bytesOf(text) {
  try {
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = characters.charCodeAt(i);
    return bytes;
  } catch {
    return new Uint8Array(0);
  }
}

/** The layers or heads that are averaged. @param {number} index AVERAGE for all of them @param {number} count @returns {number[]} */
const indicesOf = (index, count) => (index === AVERAGE ? [...Array(count).keys()] : [Math.min(index, count - 1)]);

/**
 * @param {Uint8Array} bytes (layers, heads, keys)
 * @param {number} keys
 * @param {{from: number, to: number}} range of the keys that count
 * @param {number[]} layers
 * @param {number[]} heads
 * @param {number} perLayer heads of a layer
 */
function mean(bytes, keys, { from, to }, layers, heads, perLayer) {
  const sums = new Float32Array(keys);
  let total = 0;
  for (const layer of layers) {
    for (const head of heads) {
      const start = (layer * perLayer + head) * keys;
      for (let key = from; key < to; key += 1) {
        const square = bytes[start + key] * bytes[start + key];
        sums[key] += square;
        total += square;
      }
    }
  }
  // dividing by the sum undoes most of the rounding to bytes; if there are several keys, none has all of the attention
  const most = to - from > 1 ? ALMOST_ALL : 1;
  return total ? sums.map((value) => Math.min(most, value / total)) : sums;
}

/**
 * The same weights without the sinks: tokens that most heads attend to when nothing else is relevant.
 * @param {Float32Array} weights @param {(key: number) => boolean} isSink
 */
export function withoutSinks(weights, isSink) {
  const rest = 1 - weights.reduce((sum, weight, key) => (isSink(key) ? sum + weight : sum), 0);
  return weights.map((weight, key) => (!isSink(key) && rest > 1e-6 ? weight / rest : 0));
}

/** The highest weights and their keys, highest first. @param {Float32Array} weights @param {number} count */
export const strongest = (weights, count) => Array.from(weights, (weight, key) => ({ key, weight }))
  .filter(({ weight }) => weight > 0)
  .toSorted((one, other) => other.weight - one.weight)
  .slice(0, count);
