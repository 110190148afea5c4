/**
 * The finished texts of a beam search: which are kept, and when no living text could still rank among them.
 */

/** @typedef {import('./generate.js').Hypothesis} Hypothesis */
/** @typedef {import('./generate.js').Dropped} Dropped */

/** The best finished texts, ranked by score / length ** penalty. */
export class FinishedTexts {
  /** @param {import('./settings.js').Settings} settings @param {number} limit how many tokens a text may have */
  constructor({ num_beams: size, length_penalty: penalty, early_stopping: earlyStopping }, limit) {
    this.size = size;
    this.penalty = penalty;
    /** @type {'false' | 'true' | 'never'} */
    this.earlyStopping = earlyStopping;
    this.limit = limit;
    /** @type {Hypothesis[]} best first */
    this.kept = [];
  }

  /** @param {number} score @param {number} length */
  finalScore(score, length) {
    return score / length ** this.penalty;
  }

  /** Add finished texts; returns those that no longer rank among the best. @param {Hypothesis[]} ended @returns {Dropped[]} */
  add(ended) {
    const ranked = [...this.kept, ...ended].toSorted((a, b) => b.finalScore - a.finalScore); // of equals, the earlier first
    this.kept = ranked.slice(0, this.size);
    return ranked.slice(this.size).map(({ tokens, finalScore }) => (
      { reason: 'outranked', tokens, row: null, score: finalScore, toBeat: this.kept.at(-1).finalScore }));
  }

  /** The final score that a living text is assumed to reach at best. @param {Hypothesis} living */
  #atBest({ score, tokens }) {
    return this.finalScore(score, this.earlyStopping === 'never' && this.penalty > 0 ? this.limit : tokens.length);
  }

  /** The final score that a living text must exceed to get in; null if no text can. */
  get toBeat() {
    return this.earlyStopping === 'true' ? null : this.kept.at(-1).finalScore;
  }

  /** Whether the search is over. @param {Hypothesis} living the best living text */
  closes(living) {
    return this.kept.length >= this.size && (this.toBeat === null || this.#atBest(living) <= this.toBeat);
  }

  /** Why a text that could still be continued was dropped. @param {Hypothesis} living @returns {Dropped} */
  closed(living) {
    return { reason: 'search over', tokens: living.tokens, row: null, score: this.#atBest(living), toBeat: this.toBeat };
  }
}
