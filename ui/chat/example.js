/**
 * An empty conversation: a recorded dialogue whose tokens can be clicked, and suggested first messages.
 */

import { make } from '../kit/js/dom.js';
import { dialogue } from '../examples/dialogue.js';
import { makeExampleNote, takeOver } from '../examples/example.js';
import { makeBubble, makeExamples } from '../runs/answer.js';

/**
 * @param {{examples: string[], busy: boolean, isRecorded: boolean}} offer `isRecorded`: the recorded dialogue is shown, too
 * @param {(text: string) => void} onPick
 */
export function makeBeginning({ examples, busy, isRecorded }, onPick) {
  return make('div', { class: 'at-empty' },
    make('p', { class: 'at-empty-title', text: 'Say something and watch the model choose every word.' }),
    make('p', {
      class: 'at-quiet', text: 'Click any token (a word or part of one) in the answer to see what else the model could have chosen.',
    }),
    ...(isRecorded ? [makeDialogue(busy)] : []),
    makeExamples(examples, busy, onPick));
}

/** @param {boolean} busy */
function makeDialogue(busy) {
  return make('section', { class: 'at-recorded', 'aria-label': 'Example conversation' },
    makeExampleNote({
      model: dialogue.model, take: 'Continue this conversation', disabled: busy, onTake: () => takeOver('chat'),
    }),
    ...dialogue.turns.map((turn, number) => {
      const { node, body } = makeBubble(turn.role, number);
      body.show(turn);
      return make('div', { class: `at-turn at-${turn.role}` }, node);
    }));
}
