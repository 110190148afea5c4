/**
 * Numbers as the server packs them (`packed_shares` in ui/kit/packing.py): 16 bits each, as shares of the largest.
 */

const STEPS = 32767; // on each side of zero

/** @param {string} packed @returns {Float64Array} from −1 to 1 */
export const unpackedShares = (packed) =>
  Float64Array.from(new Int16Array(Uint8Array.from(atob(packed), (character) => character.charCodeAt(0)).buffer), (one) => one / STEPS);
