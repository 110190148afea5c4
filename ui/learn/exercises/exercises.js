/**
 * The exercises of a chapter: a field or a choice each, checked by the server with the chapter's own code.
 *
 * @typedef {{name: string, kind: 'number' | 'choice' | 'change', question: string, hint: string, options: string[],
 *   predicted: boolean}} Exercise `predicted`: it is asked within the text
 * @typedef {{right: boolean | null, feedback: string, explanation: string, solution: string,
 *   example?: object | null}} ExerciseReply `right`: null where the solution was asked for
 * @typedef {{chapter: string, ask: (inputs: object, then: (reply: any) => void) => void, state: () => object,
 *   put: (example: object) => void, onSolved: () => void}} ExerciseWiring `state`: the chapter's input as it stands;
 *   `put`: shows the chapter with an example
 * @typedef {{answer: number | null, verdict: string}} Guess what was typed or chosen, and what was said of it
 */

import { explained } from '../../glossary/marking.js';
import { make, makeButton } from '../../kit/js/dom.js';
import { sideBySide } from '../lesson.js';
import { isSolved, markSolved } from './progress.js';

/** @param {ExerciseWiring} wiring */
export function exercises(wiring) {
  const list = make('ol', { class: 'at-listed at-exercises' });
  const all = makeButton('Show all answers', async () => {
    for (const { reveal } of views) await reveal(); // one after the other: the server computes each
  });
  const node = make('section', { class: 'at-lesson-part', 'aria-label': 'Exercises' }, make('h3', { text: 'Exercises' }), list, sideBySide(all));
  /** @type {ReturnType<typeof exerciseView>[]} */
  let views = [];
  /** @type {Map<string, Guess | null>} by the names of predictions whose rest is shown: null where nothing was guessed */
  const opened = new Map();
  node.hidden = true;

  /** Show them, under the first result. @param {Exercise[]} ofChapter */
  function begin(ofChapter) {
    if (views.length || !ofChapter.length) return;
    views = ofChapter.filter(({ predicted }) => !predicted).map((exercise) => exerciseView(exercise, wiring));
    list.replaceChildren(...views.map((view) => view.node));
    node.hidden = false;
  }

  /**
   * A question within the text, whose guess shows what follows it.
   * @param {Exercise[]} ofChapter @param {string} name @param {HTMLElement} rest
   */
  function prediction(ofChapter, name, rest) {
    const exercise = /** @type {Exercise} */ (ofChapter.find((one) => one.name === name));
    if (isSolved(wiring.chapter, name) && !opened.has(name)) opened.set(name, null);
    return predictionView(exercise, wiring, rest, opened);
  }

  return { node, begin, prediction };
}

/**
 * The question of an exercise with what is typed or chosen.
 * @param {Exercise} exercise @param {string} id of the question
 */
function questionView({ kind, question, options }, id) {
  const field = kind === 'number' ? make('input', { type: 'number', step: 'any', 'aria-labelledby': id }) : null;
  const choices = options.map((text, option) => make('label', { class: 'at-lesson-field' },
    make('input', { type: 'radio', name: id, value: option }), make('span', { text, dir: 'auto' })));
  const form = make('form', { class: 'at-lesson-row', novalidate: true }, ...(field ? [field] : []), ...choices);
  const verdict = make('p', { class: 'at-exercise-verdict', role: 'status' });
  return {
    nodes: [explained(make('p', { id, text: question })), form, verdict],
    form,
    verdict,
    /** @returns {number | null} what was typed or chosen */
    answer() {
      if (field) return field.value === '' ? null : Number(field.value);
      const chosen = form.querySelector('input:checked');
      return chosen instanceof HTMLInputElement ? Number(chosen.value) : null;
    },
    /** @param {number | null} answer */
    fill(answer) {
      if (answer === null) return;
      if (field) field.value = String(answer);
      const chosen = form.querySelector(`input[value="${answer}"]`);
      if (chosen instanceof HTMLInputElement) chosen.checked = true;
    },
    say(/** @type {string} */ text) {
      verdict.textContent = text;
    },
  };
}

/** @param {Exercise} exercise @param {ExerciseWiring} wiring */
function exerciseView(exercise, { chapter, ask, state, put, onSolved }) {
  const { nodes, form, verdict, answer, say } = questionView(exercise, `exercise-${chapter}-${exercise.name}`);
  form.append(make('button', { class: 'at-plain', text: 'Check' }), makeButton('Hint', () => say(exercise.hint)),
    makeButton('Show answer', reveal));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    check();
  });
  const node = make('li', { class: 'at-exercise' }, ...nodes);
  if (isSolved(chapter, exercise.name)) node.dataset.solved = '';

  function check() {
    ask({ exercise: exercise.name, answer: answer(), state: state() }, ({ error, result }) => {
      if (error) return say(error);
      if (!result) return say('');
      if (!result.right) return say(result.feedback);
      markSolved(chapter, exercise.name);
      node.dataset.solved = '';
      onSolved();
      say(`Right. ${result.explanation}`);
    });
  }

  async function reveal() {
    /** @type {{error: string, result: ExerciseReply | null}} */
    const { error, result } = await new Promise((then) => { ask({ exercise: exercise.name, reveal: true, state: state() }, then); });
    if (!result) return say(error ?? '');
    say(`Answer: ${result.solution}. ${result.explanation}`);
    if (result.example) verdict.append(' ', makeButton('Try it', () => put(result.example)));
  }

  return { node, reveal };
}

/**
 * A prediction: any guess, right or wrong, shows what was computed. Nothing can be guessed afterwards, and the guess stays
 * with its verdict where the chapter is drawn anew, as for the example of another exercise.
 * @param {Exercise} exercise @param {ExerciseWiring} wiring @param {HTMLElement} rest
 * @param {Map<string, Guess | null>} opened of those whose rest is shown
 */
function predictionView(exercise, { chapter, ask, state, onSolved }, rest, opened) {
  const { nodes, form, answer, fill, say } = questionView(exercise, `prediction-${chapter}-${exercise.name}`);
  const guess = make('button', { class: 'at-primary', text: 'Guess' });
  const skip = makeButton('Show it without a guess', () => open());
  const solution = makeButton('Show answer', () => attempt({ reveal: true }, () => {}));
  form.append(guess, skip, solution);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    attempt({ answer: answer() }, () => {
      markSolved(chapter, exercise.name);
      onSolved();
      open();
    });
  });

  /** @param {object} inputs @param {() => void} then once the verdict is there */
  function attempt(inputs, then) {
    ask({ exercise: exercise.name, state: state(), ...inputs }, (/** @type {{error: string, result: ExerciseReply | null}} */ { error, result }) => {
      if (!result) return say(error ?? '');
      then();
      tell({ answer: answer(), verdict: verdictOf(result) });
    });
  }

  const title = make('p', { class: 'at-md at-strong at-quiet', text: 'Your prediction' });
  const node = make('div', { class: 'at-exercise at-prediction', role: 'group', 'aria-label': 'Your prediction' }, title, ...nodes);
  const open = () => {
    if (!opened.has(exercise.name)) opened.set(exercise.name, null);
    rest.hidden = false;
    guess.hidden = skip.hidden = true;
    solution.hidden = false;
    form.querySelectorAll('input').forEach((input) => { input.disabled = true; });
  };
  /** @param {Guess} checked */
  const tell = (checked) => {
    opened.set(exercise.name, checked);
    fill(checked.answer);
    say(checked.verdict);
    solution.hidden = true;
  };
  rest.hidden = solution.hidden = true;
  if (opened.has(exercise.name)) open();
  const before = opened.get(exercise.name);
  if (before) tell(before);
  return node;
}

/** @param {ExerciseReply} reply to a guess */
function verdictOf({ right, feedback, solution, explanation }) {
  return [right ? 'You predicted it.' : feedback, right ? '' : `It is: ${solution}.`, explanation].filter(Boolean).join(' ');
}
