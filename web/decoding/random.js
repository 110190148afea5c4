/**
 * The random numbers of a run: the same two streams as in Python, which depend on the seed alone.
 */

const SIZE = 624, MIDDLE = 397; // numbers in the state of MT19937

/** The Mersenne Twister (Matsumoto and Nishimura, 1998), which is PyTorch's generator on a CPU. */
export class UniformStream {
  /** @param {number} seed below 2 ** 32 @param {number} [skip] how many numbers have been used already */
  constructor(seed, skip = 0) {
    this.state = new Uint32Array(SIZE);
    this.place = SIZE;
    this.state[0] = seed;
    for (let i = 1; i < SIZE; i++) {
      const before = this.state[i - 1];
      this.state[i] = Math.imul(1_812_433_253, before ^ (before >>> 30)) + i;
    }
    for (let i = 0; i < skip; i++) this.next();
  }

  /** A number in [0, 1) with 53 random bits. */
  next() {
    const high = this.#bits(), low = this.#bits();
    return ((high & 0x1fffff) * 2 ** 32 + low) * 2 ** -53;
  }

  /** 32 random bits. */
  #bits() {
    if (this.place === SIZE) this.#twist();
    let bits = this.state[this.place++];
    bits ^= bits >>> 11;
    bits ^= (bits << 7) & 0x9d2c5680;
    bits ^= (bits << 15) & 0xefc60000;
    return (bits ^ (bits >>> 18)) >>> 0;
  }

  #twist() {
    const { state } = this;
    for (let i = 0; i < SIZE; i++) {
      const joined = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
      state[i] = state[(i + MIDDLE) % SIZE] ^ (joined >>> 1) ^ (joined & 1 ? 0x9908b0df : 0);
    }
    this.place = 0;
  }
}

const BITS = (1n << 64n) - 1n;

/** The finaliser of SplitMix64 (Steele, Lea and Flood, 2014). @param {bigint} state */
function mix(state) {
  state = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & BITS;
  state = ((state ^ (state >> 27n)) * 0x94d049bb133111ebn) & BITS;
  return state ^ (state >> 31n);
}

/** The number at this index of another stream, in [0, 1). @param {number} seed @param {number} index */
export function uniformAt(seed, index) {
  const mixed = mix((mix(BigInt(seed)) + BigInt(index + 1) * 0x9e3779b97f4a7c15n) & BITS);
  return Number(mixed >> 11n) * 2 ** -53;
}
