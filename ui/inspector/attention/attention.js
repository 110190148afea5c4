/**
 * Attention in numbers: the bytes of each pass, and the weights of one layer and head or of an average.
 *
 * A pass has one query: of a decoder the token before the one it chose, which looks at keys 0 … query; of an encoder any
 * token, which looks at all. A byte is 255 times the square root of a weight, so weights are averaged after squaring.
 * Behind an encoder, a pass has two kinds of attention, each of which sums to 1: cross-attention to the source, whose
 * tokens come first, and self-attention to the text so far.
 *
 * @typedef {ReturnType<typeof makeAttention>} Attention
 */

export const AVERAGE = -1;
const ALMOST_ALL = 0.99999; // what a byte can't tell from all

/** @typedef {'cross' | 'self'} AttentionKind */

/**
 * The passes of one run; they are kept while the run is shown, so that an update sends only new ones.
 * @param {(query: number) => number} keysOf how many tokens a query looks at
 */
export function makeAttention(keysOf = (query) => query + 1) {
  /** @type {({text: string, bytes: Uint8Array, view: string, weights: Float32Array} | undefined)[]} by query */
  let passes = [];
  let layers = 0;
  let heads = 0;
  let source = 0;

  /** @param {number} query everything from this pass on is forgotten */
  function cut(query) {
    passes.length = Math.min(passes.length, Math.max(0, query));
  }

  /** @param {number} from @param {number} end only passes from … end - 1 are kept */
  function keep(from, end) {
    passes.fill(undefined, 0, from);
    cut(end);
  }

  /**
   * @param {string[]} rows base64 of (layers, heads, keys)
   * @param {number} from query of the first
   * @param {[number, number]} shape layers and heads
   * @param {number} [tokens] of the source, which come before the others
   */
  function put(rows, from, shape, tokens = 0) {
    if (shape[0] !== layers || shape[1] !== heads || tokens !== source) passes = [];
    [layers, heads] = shape;
    source = tokens;
    rows.forEach((text, i) => {
      const query = from + i;
      if (passes[query]?.text === text) return;
      const bytes = bytesOf(text);
      // a row of another shape would draw nonsense: rather none
      passes[query] = bytes.length === layers * heads * keysOf(query)
        ? { text, bytes, view: '', weights: new Float32Array(0) } : undefined;
    });
  }

  /**
   * Weights of one pass over its keys, summing to 1 over those of the kind; null where none are at hand.
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
      pass.weights = mean(pass.bytes, keys, range, chosen(layer, layers), chosen(head, heads), heads);
      pass.view = view;
    }
    return pass.weights;
  }

  /**
   * How much each pass at hand attended to one key, by query; 0 for those that did not, null where no pass could have.
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

/** @param {string} text base64 */
function bytesOf(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** @param {number} one @param {number} all @returns {number[]} */
const chosen = (one, all) => (one === AVERAGE ? Array.from({ length: all }, (_, i) => i) : [Math.min(one, all - 1)]);

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
  // the sum is known to be 1, which takes back most of the rounding to bytes; of several keys none has all of it
  const most = to - from > 1 ? ALMOST_ALL : 1;
  return total ? sums.map((value) => Math.min(most, value / total)) : sums;
}

/**
 * The same weights without the tokens on which most heads rest when they have nothing to look at.
 * @param {Float32Array} weights @param {(key: number) => boolean} isSink
 */
export function withoutSinks(weights, isSink) {
  const rest = 1 - weights.reduce((sum, weight, key) => (isSink(key) ? sum + weight : sum), 0);
  return weights.map((weight, key) => (!isSink(key) && rest > 1e-6 ? weight / rest : 0));
}

/** @param {Float32Array} weights @param {number} count @returns {[number, number][]} key and weight, highest first */
export const strongest = (weights, count) =>
  Array.from(weights, (weight, key) => /** @type {[number, number]} */ ([key, weight]))
    .filter(([, weight]) => weight > 0)
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, count);
