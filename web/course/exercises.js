/**
 * Attempts at the exercises of the course, judged as ui/learn/exercises/exercise.py does. The solutions are computed there
 * and recorded; an exercise that is solved by a change is judged by its condition.
 *
 * @typedef {[place: string, how: string, to: any]} Check a comparison of what stands at a place of a result, as in ui/learn/exercises/checks.py
 * @typedef {{predicted: boolean, reveal: Reply, explanation: string, replies?: Reply[], digits?: number, solutions?: number[],
 *   holds?: Check[], mistakes?: [number, string][] | [Check[], string][]}} Exercise `replies`: to each option; `holds`: what a change must bring
 *   about; `mistakes`: typical wrong numbers, or what typical wrong changes bring about, each with its feedback
 * @typedef {import('../../ui/learn/exercises/exercises.js').ExerciseReply} Reply
 * @typedef {import('./answers.js').ChapterFile} ChapterFile
 * @typedef {import('./answers.js').Inputs} Inputs
 * @typedef {import('./answers.js').Result} Result
 */

export const OUT_OF_DATE = 'This page is out of date: reload it.'; // it asks for something that no file has
const WRONG = 'Not yet. Try again, or take the hint.'; // where nothing more can be said
const MAX = 1e12; // of a typed number

/**
 * @param {ChapterFile} file
 * @param {Inputs} attempt `exercise` and `state`, with either `answer` or `reveal`
 * @param {(state: Inputs) => Promise<Result>} compute the chapter
 * @returns {Promise<Reply>}
 */
export async function judge(file, { exercise: name, state = {}, answer, reveal }, compute) {
  if (!Object.hasOwn(file.exercises, name)) throw new Error(OUT_OF_DATE);
  const exercise = exerciseOf(file.exercises[name], state.model ?? file.own.inputs.model);
  if (!exercise) throw new Error(OUT_OF_DATE);
  if (reveal) return exercise.reveal;
  if (exercise.replies) {
    if (!Number.isInteger(answer) || !(answer in exercise.replies)) throw new Error('Choose one of the answers first.');
    return exercise.replies[answer];
  }
  if (exercise.solutions && typeof answer !== 'number') throw new Error('Type a number first.');
  const wrong = exercise.solutions ? feedback(exercise, answer) : unfulfilled(exercise, await compute(state));
  const { predicted, explanation, reveal: { solution } } = exercise;
  if (predicted) return { right: !wrong, feedback: wrong === WRONG ? '' : wrong, explanation, solution };
  return { right: !wrong, feedback: wrong, explanation: wrong ? '' : explanation, solution: '' };
}

/** @param {Record<string, Exercise>} byModel whose answer depends on the model; under "" for all @param {string} model */
const exerciseOf = (byModel, model) => byModel[Object.hasOwn(byModel, model) ? model : ''];

/** What is wrong with a number; "" if nothing is. @param {Exercise} exercise @param {number} answer */
function feedback({ digits, solutions, mistakes }, answer) {
  if (!(Math.abs(answer) <= MAX)) return WRONG;
  const is = (/** @type {number} */ one, /** @type {number} */ number) => Math.abs(one - number) <= (digits ? 0.5 * 10 ** -digits : 0) + 1e-9;
  if (solutions.some((solution) => is(answer, solution))) return '';
  const mistake = /** @type {[number, string][]} */ (mistakes).find(([number]) => is(answer, number));
  if (mistake) return mistake[1];
  const [right] = solutions, coarser = Array.from({ length: Math.max(0, digits - 1) }, (_, index) => Number(right.toFixed(index + 1)));
  if (is(-answer, right)) return 'The size is right. Check the sign.';
  if (digits && right && [100, 0.01].some((factor) => Math.abs((answer * factor) / right - 1) < 0.02)) {
    return 'You are off by a factor of 100: 0.25 and 25 % are the same share, so see which one is asked for.';
  }
  if (coarser.some((number) => Math.abs(answer - number) < 1e-9)) {
    return `That is rounded too much. Give ${digits} digits after the decimal point.`;
  }
  if (digits && Math.abs(answer - right) < 10 ** -digits) return 'Only the last digit is off: round the result, and only at the end.';
  return WRONG;
}

/** What is wrong with a change; "" if it fulfils the condition. @param {Exercise} exercise @param {Result} result */
function unfulfilled({ holds, mistakes }, result) {
  if (fulfilled(holds, result)) return '';
  const mistake = /** @type {[Check[], string][]} */ (mistakes).find(([checks]) => fulfilled(checks, result));
  return mistake ? mistake[1] : WRONG;
}

/** @type {Record<string, (one: any, other: any) => boolean>} */
const COMPARE = {
  '==': (one, other) => JSON.stringify(one) === JSON.stringify(other),
  '!=': (one, other) => !COMPARE['=='](one, other),
  '<': (one, other) => one !== null && one < other,
  '>': (one, other) => one !== null && one > other,
  in: (one, other) => other.includes(one),
  'not in': (one, other) => !other.includes(one),
};

/** Whether all hold. @param {Check[]} checks @param {Record<string, any>} result */
export const fulfilled = (checks, result) => checks.every(([place, how, to]) =>
  COMPARE[how](valueAt(result, place), typeof to === 'string' ? valueAt(result, to) : to));

/** @param {Record<string, any>} result @param {string} place */
const valueAt = (result, place) => place.split('.').reduce((/** @type {any} */ value, step) =>
  (Array.isArray(value) ? value.at(Number(step)) : value?.[step]), result);

/** The exercises as they are printed. @param {ChapterFile} file @param {boolean} isSolved */
export function sheetOf({ page, title, exercises, own }, isSolved) {
  return { title, exercises: page.exercises.map(({ name, question, options, on_page, predicted }) => {
    const { solution, explanation } = exerciseOf(exercises[name], own.inputs.model).reveal;
    return { question, options, on_page, predicted, ...(isSolved && { solution, explanation }) };
  }) };
}
