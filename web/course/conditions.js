/**
 * What the exercises of the course ask a reader to bring about, and typical mistakes, as the chapters in
 * ui/learn/chapters/ define them: conditions on a chapter's result.
 */

/** Of a result, and of the chapter's file. @typedef {(result: any, file: import('./answers.js').ChapterFile) => boolean} Condition */

const NEAR = 0.05; // of numbers that are the opposite of each other
const SHARP = 0.6; // a weight
const [GOAL, GOAL_STEPS] = [0.2, 20]; // a loss, and the steps to it
const LEAST = 0.1; // of a vector's largest number

const words = (result) => result.cuts.find((cut) => cut.rule && cut.name === 'words');
const sharpest = (result) => Math.max(...result['encoder.self.weights'].rows.flat(2));
const largest = (numbers) => Math.max(...numbers.map(Math.abs));
const isOnAButton = ({ analogy }, { page }) => page.slots.analogies.examples.some(([, { a }]) => a === analogy.words[0]);
const decimals = (number) => number.toFixed(2).replace(/^-0\.00$/, '0.00');
const isNear = (one, other) => Math.abs(one - other) <= Math.max(0.005, 1e-9 * Math.max(Math.abs(one), Math.abs(other)));
const hasOtherTree = ({ search: { tree } }, { own }) => tree.some((row, index) => index !== 2 && row.join() !== own.search.tree[index].join());

/** By chapter and exercise: `holds`, then the mistakes in the order in which they are looked for. @type {Record<string, Record<string, Record<string, Condition>>>} */
export const CONDITIONS = {
  tokens: { lost_spaces: {
    holds: (result) => words(result).count === 3 && words(result).lost.length > 0,
    other_count: (result) => words(result).count !== 3,
    nothing_lost: (result) => !words(result).lost.length,
  } },
  vocabulary: { q_and_u: {
    holds: ({ learned }) => learned.length > 0 && learned[0].cells[1].pieces.join() === 'q,u',
    nothing_merged: ({ learned }) => !learned.length,
    another_pair: ({ learned }) => learned.length > 0,
  } },
  vectors: { needs_its_step: {
    holds: (result, file) => !isOnAButton(result, file) && result.analogy.rank === 1 && (result.analogy.rank_without || 1) > 1,
    a_button: isOnAButton,
    by_itself: ({ analogy }) => analogy.rank === 1 && analogy.rank_without === 1,
    not_first: ({ analogy }) => (analogy.rank ?? 0) > 1,
  } },
  positions: { opposite: { holds: ({ turns: [{ before, turned }] }) => before.every((one, index) => Math.abs(one + turned[index]) < NEAR) } },
  why_attention: { longer_than_wide: { holds: ({ counts }) => counts.attention[0] > counts.recurrent[0] } },
  attention: { half_of_the_weight: { holds: (result) => result.asking === 2 && result.six_scored.weights[0][4] > 0.5 } },
  attention_by_hand: { one_word_decides: { holds: ({ steps }) => steps.weights[1][1] > 0.9 } },
  heads: { rests_on_the_first_token: {
    holds: ({ maps }) => maps.one !== null && maps.one.at(-1)[0] > 0.5,
    some: ({ maps }) => maps.one !== null && maps.one.at(-1)[0] > 0.2,
  } },
  block: { sharp: { holds: (result) => sharpest(result) > SHARP, nearly: (result, { own }) => sharpest(result) > sharpest(own) + 0.01 } },
  sentences: { rests_on_the_first_token: {
    holds: ({ attention: { word, targets, layers, heads } }) => word[0] > 1 && targets.first > (layers * heads) / 2,
    begins: ({ attention }) => attention.word[0] <= 1,
  } },
  training: {
    too_large_a_step: {
      holds: ({ step, losses }) => step === 1 && losses.at(-1) > losses[0],
      later: ({ step }) => step > 1,
      smaller: (result) => result.learning_rate < 0.1,
    },
    learned: {
      holds: ({ losses }) => Math.min(...losses.slice(0, GOAL_STEPS + 1)) < GOAL,
      late: ({ losses }) => Math.min(...losses) < GOAL,
      early: ({ step, losses }) => step < GOAL_STEPS && losses.at(-1) < losses[0],
    },
  },
  generation: { greedy_wins: {
    holds: (result, file) => result.search.beams === 2 && !hasOtherTree(result, file) && result.search.found.path.join() === result.search.greedy.path.join(),
    one_beam: (result) => result.beams !== 2,
    other_numbers: hasOtherTree,
  } },
  context: { points_elsewhere: { holds: ({ alike }) => alike < 0.9, closer: ({ alike }) => alike > 0.99 } },
  inside: { a_head_against: {
    holds: ({ effects, before, after }) => effects !== null && after > before,
    for_it: ({ before, after }) => after < before,
  } },
  today: { norms_agree: {
    holds: ({ vector: [numbers], norms: { LayerNorm, RMSNorm } }) => largest(numbers) >= LEAST
      && LayerNorm[0].every((one, index) => isNear(one, RMSNorm[0][index]) || decimals(one) === decimals(RMSNorm[0][index])),
    mean: ({ vector: [numbers] }) => Math.abs(numbers.reduce((sum, one) => sum + one, 0)) > LEAST,
    small: ({ vector: [numbers] }) => largest(numbers) < LEAST,
  } },
};
