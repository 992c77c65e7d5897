const FIRST_SLOTS = 2 ** 16;
const LARGEST_LOAD = 0.6;

/** A set of texts, of which it keeps 64 bits each. */
export class Fingerprints {
  size = 0;
  #high = new Uint32Array(FIRST_SLOTS);
  #low = new Uint32Array(FIRST_SLOTS);

  /** @returns false if the text, or one of the same fingerprint, was added before */
  add(text) {
    if (this.size > this.#high.length * LARGEST_LOAD) {
      this.#grow();
    }
    const [high, low] = fingerprintOf(text);
    const isNew = this.#put(high, low);
    this.size += Number(isNew);
    return isNew;
  }

  #put(high, low) {
    const mask = this.#high.length - 1;
    let slot = low & mask;
    while (this.#high[slot] !== 0 || this.#low[slot] !== 0) {
      if (this.#high[slot] === high && this.#low[slot] === low) {
        return false;
      }
      slot = (slot + 1) & mask;
    }
    this.#high[slot] = high;
    this.#low[slot] = low;
    return true;
  }

  #grow() {
    const [highs, lows] = [this.#high, this.#low];
    this.#high = new Uint32Array(highs.length * 2);
    this.#low = new Uint32Array(lows.length * 2);
    highs.forEach((high, slot) => {
      if (high !== 0 || lows[slot] !== 0) {
        this.#put(high, lows[slot]);
      }
    });
  }
}

/** Two multiplicative hashes of 32 bits; never two zeros, which mark a free slot. */
function fingerprintOf(text) {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x5bd1e995);
    high ^= high >>> 15;
    low = Math.imul(low ^ code, 0x1b873593);
    low ^= low >>> 13;
  }
  high = Math.imul(high ^ (low >>> 16), 0x2c1b3c6d);
  low = Math.imul(low ^ (high >>> 15), 0x297a2d39);
  return [(high ^ (high >>> 13)) >>> 0, (low ^ (low >>> 16) || 1) >>> 0];
}
