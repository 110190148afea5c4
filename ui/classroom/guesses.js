/**
 * Guesses of the next token, and what they cost. Draws nothing.
 *
 * @typedef {{text: string, bits: number, others: number}} Judged a guess and its surprise to the model; `others` is 0 for a
 *   listed token, and else the number of tokens as whose average it counts
 */

/** @import { Candidate, Step } from '../inspector/step.js' */

const MAX_BITS = 40; // of one token; ui/classroom/scores.py takes no more

/** How surprising a token of this probability is: the fewer bits, the likelier. @param {number} share */
export const bitsOf = (share) => Math.min(MAX_BITS, -Math.log2(share));

/** The candidates in an order that says nothing about their probabilities. @param {Step} step */
export const choicesOf = (step) => step.candidates.toSorted((one, other) =>
  one.text.trim().localeCompare(other.text.trim(), 'en') || one.id - other.id);

/** @param {Candidate} candidate @returns {Judged} */
export const judged = ({ text, modelShare }) => ({ text, bits: bitsOf(modelShare), others: 0 });

/**
 * A guess in the student's own words: the likeliest candidate that it spells, with other spaces or in other letters if need
 * be. The table lists only the likeliest tokens, so any other guess counts as the average of the tokens that it doesn't list.
 * @param {Step} step @param {string} text @returns {Judged}
 */
export function judgedText(step, text) {
  const spellings = [(word) => word, (word) => word.trim(), (word) => word.trim().toLowerCase()];
  const likeliest = step.candidates.toSorted((one, other) => other.modelShare - one.modelShare);
  for (const spell of spellings) {
    const candidate = likeliest.find((each) => spell(each.text) === spell(text));
    if (candidate) return judged(candidate);
  }
  const others = Math.max(1, step.kept[0] - step.candidates.length);
  return { text, bits: bitsOf(step.rest[0] / others), others };
}

/** How many tokens at the beginning are the same. @param {number[]} ids @param {{id: number}[]} tokens */
export function commonPrefix(ids, tokens) {
  const end = ids.findIndex((id, index) => id !== tokens[index]?.id);
  return end < 0 ? ids.length : end;
}
