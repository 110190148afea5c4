/**
 * What the conversation shows while there is none: a recorded dialogue whose tokens can be clicked, and messages to begin with.
 */

import { make } from '../kit/js/dom.js';
import { dialogue } from '../examples/dialogue.js';
import { makeExampleNote } from '../examples/example.js';
import { makeBubble, makeExamples } from '../runs/answer.js';

/**
 * @param {{examples: string[], busy: boolean, isRecorded: boolean}} given whether the recorded dialogue is shown, too
 * @param {{onPick: (text: string) => void, onContinue: (messages: string[]) => void}} wiring
 */
export function makeBeginning({ examples, busy, isRecorded }, { onPick, onContinue }) {
  return make('div', { class: 'at-empty' },
    make('p', { class: 'at-empty-title', text: 'Say something and watch the model choose every word.' }),
    make('p', {
      class: 'at-quiet', text: 'Click any token (a word or part of one) in the answer to see what else the model could have chosen.',
    }),
    ...(isRecorded ? [makeDialogue(busy, onContinue)] : []),
    makeExamples(examples, busy, onPick));
}

/** @param {boolean} busy @param {(messages: string[]) => void} onContinue with its messages but for the last answer */
function makeDialogue(busy, onContinue) {
  const messages = dialogue.turns.slice(0, -1).map(({ text }) => text);
  return make('section', { class: 'at-recorded', 'aria-label': 'Example conversation' },
    makeExampleNote({
      model: dialogue.model, take: 'Continue this conversation', disabled: busy, onTake: () => onContinue(messages),
    }),
    ...dialogue.turns.map((turn, number) => {
      const { node, body } = makeBubble(turn.role, number);
      body.show(turn);
      return make('div', { class: `at-turn at-${turn.role}` }, node);
    }));
}
