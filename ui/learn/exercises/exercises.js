/**
 * The exercises of a chapter: a field or a choice each, checked by the server with the chapter's own code.
 *
 * @typedef {{kind: 'number' | 'choice' | 'change', question: string, hint: string, options: string[]}} Exercise
 * @typedef {{right: boolean | null, explanation: string, solution?: string, example?: object | null}} ExerciseReply
 *   `right`: null where the solution was asked for
 * @typedef {{chapter: string, ask: (given: object, then: (reply: any) => void) => void, state: () => object,
 *   put: (example: object) => void, onSolved: () => void}} ExerciseWiring `state`: the chapter's input as it stands;
 *   `put`: shows the chapter with an example
 */

import { explained } from '../../glossary/marking.js';
import { make } from '../../kit/js/dom.js';
import { plainButton, sideBySide } from '../lesson.js';
import { isSolved, markSolved } from './progress.js';

/** @param {ExerciseWiring} wiring */
export function exerciseList(wiring) {
  const list = make('ol', { class: 'at-exercises' });
  const all = plainButton('Show all answers', () => views.forEach(({ reveal }) => reveal()));
  const node = make('section', { class: 'at-lesson-part', 'aria-label': 'Exercises' }, make('h3', { text: 'Exercises' }), list, sideBySide(all));
  /** @type {ReturnType<typeof exerciseView>[]} */
  let views = [];
  node.hidden = true;

  /** Show them, under the first result. @param {Exercise[]} exercises */
  function begin(exercises) {
    if (views.length || !exercises.length) return;
    views = exercises.map((exercise, index) => exerciseView(exercise, index, wiring));
    list.replaceChildren(...views.map((view) => view.node));
    node.hidden = false;
  }

  return { node, begin };
}

/** @param {Exercise} exercise @param {number} index @param {ExerciseWiring} wiring */
function exerciseView({ kind, question, hint, options }, index, { chapter, ask, state, put, onSolved }) {
  const verdict = make('p', { class: 'at-exercise-verdict', role: 'status' });
  const id = `exercise-${chapter}-${index}`;
  const field = kind === 'number' ? make('input', { type: 'number', step: 'any', 'aria-labelledby': id }) : null;
  const choices = options.map((text, option) => make('label', { class: 'at-lesson-field' },
    make('input', { type: 'radio', name: id, value: option }), make('span', { text, dir: 'auto' })));
  const form = make('form', { class: 'at-lesson-row', novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    check();
  } }, ...(field ? [field] : []), ...choices, make('button', { class: 'at-plain', text: 'Check' }),
  plainButton('Hint', () => say(hint)), plainButton('Show answer', reveal));
  const node = make('li', { class: 'at-exercise' }, explained(make('p', { id, text: question })), form, verdict);
  if (isSolved(chapter, question)) node.dataset.solved = '';

  /** @returns {number | null} what was typed or chosen */
  function answer() {
    if (field) return field.value === '' ? null : Number(field.value);
    const chosen = node.querySelector('input:checked');
    return chosen instanceof HTMLInputElement ? Number(chosen.value) : null;
  }

  function check() {
    ask({ exercise: index, answer: answer(), state: state() }, ({ error, result }) => {
      if (error) return say(error);
      if (!result) return say('');
      if (!result.right) return say('Not yet. Try again, or take the hint.');
      markSolved(chapter, question);
      node.dataset.solved = '';
      onSolved();
      say(`Right. ${result.explanation}`);
    });
  }

  function reveal() {
    ask({ exercise: index, reveal: true, state: state() }, (/** @type {{error: string, result: ExerciseReply | null}} */ { error, result }) => {
      if (!result) return say(error ?? '');
      say(`Answer: ${result.solution}. ${result.explanation}`);
      if (result.example) verdict.append(' ', plainButton('Try it', () => put(result.example)));
    });
  }

  /** @param {string} text */
  function say(text) {
    verdict.textContent = text;
  }

  return { node, reveal };
}
