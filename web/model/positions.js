/**
 * Position encodings: sinusoids are added to the embeddings, rotary angles turn queries and keys.
 *
 * Shapes: P positions, W model width, D head width.
 */

/** @param {number} pairs @param {number} base */
const frequencies = (pairs, base) => Float32Array.from({ length: pairs }, (_, pair) => base ** -Math.fround(pair / pairs));

/** Sine in even columns, cosine in odd ones (Vaswani et al., 2017, section 3.5): (P, W). @param {number} length @param {number} width */
export function sinusoids(length, width) {
  const rates = frequencies(width / 2, 10_000);
  return Float32Array.from({ length: length * width }, (_, i) => {
    const column = i % width, angle = Math.fround(Math.floor(i / width) * rates[column >> 1]);
    return column % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/**
 * Cosines and sines of the rotary angles (Su et al., 2021), (P, D / 2) each.
 * @param {number} length
 * @param {number} headWidth
 * @param {number} base
 */
export function rotaryTables(length, headWidth, base) {
  const half = headWidth / 2, rates = frequencies(half, base);
  const angles = Float32Array.from({ length: length * half }, (_, i) => Math.floor(i / half) * rates[i % half]); // (P, D / 2)
  return { cosines: angles.map(Math.cos), sines: angles.map(Math.sin) };
}

/**
 * Turn each pair (i, i + D / 2) of a head by its angle, in place.
 * @param {Float32Array} vector that holds the head
 * @param {number} start of the head
 * @param {number} position
 * @param {{cosines: Float32Array, sines: Float32Array}} tables
 * @param {number} half D / 2
 */
export function rotate(vector, start, position, { cosines, sines }, half) {
  for (let i = 0; i < half; i++) {
    const cosine = cosines[position * half + i], sine = sines[position * half + i];
    const x = vector[start + i], y = vector[start + half + i];
    vector[start + i] = x * cosine - y * sine;
    vector[start + half + i] = y * cosine + x * sine;
  }
}
