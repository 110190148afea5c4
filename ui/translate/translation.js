/**
 * A translation: one text made of clickable tokens, and examples while there is none.
 *
 * Events: 'token' (the inspector shows another run, or none), 'example', and 'missing' (updates were lost; send it whole).
 */

/** @import { RecordedTranslation, TranslationValue } from './translate_contract' */

import { makeExampleNote, offersExamples, takeOver } from '../examples/example.js';
import { find, make } from '../kit/js/dom.js';
import { exampleAlignment, interruptedText, settledText, shownTab } from '../kit/js/signals.js';
import { followColour } from '../kit/js/theme.js';
import { copyButton } from '../kit/js/transfer.js';
import { unpacked } from '../kit/js/values.js';
import { byline, makeAnswer, makeExamples, offerTokens } from '../runs/answer.js';
import { EMPTY, followTurns, stage } from '../runs/turns.js';

const fetchExample = () => import('../examples/translation.js');

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const { element, props, trigger } = component;
  const root = find(element, '.attend-translation');
  const body = makeAnswer(0);
  const note = make('p', { class: 'at-note', role: 'status' });
  const copying = copyButton('Copy the translation', () => body.node.textContent);
  const region = make('div', { class: 'at-row at-top at-gap-sm at-translated', role: 'region', 'aria-label': 'Translation' },
    body.node, make('div', { class: 'at-row at-fixed at-translated-tools' }, copying));
  let awaitsExample = offersExamples(unpacked(props.beginning));
  let example = /** @type {RecordedTranslation | null} */ (null);
  let current = /** @type {TranslationValue} */ (EMPTY);

  followColour(root);
  offerTokens(root, (_, index) => trigger('token', { index }));
  followTurns(component, (value) => {
    const [[before], [answer]] = [current.turns, value.turns];
    const isGrowing = answer?.state === 'streaming';
    current = value;
    draw(value);
    if (isGrowing ? before?.state !== 'streaming' : answer || before) settledText.publish({ kind: 'translate', isEmpty: !answer, isGrowing });
  }, ({ turns }, until) => {
    const text = find(document.body, '#attend-given textarea', HTMLTextAreaElement).value;
    interruptedText.publish({ kind: 'translate', turns, text, until });
  });
  shownTab.subscribe(root, async (tab) => {
    if (tab !== 'Translate' || !awaitsExample) return;
    awaitsExample = false;
    example = (await fetchExample()).translation;
    draw(current);
  });

  /** @param {TranslationValue} value */
  function draw({ turns, examples, busy }) {
    document.body.dataset.translation = stage(turns);
    const [answer] = turns;
    exampleAlignment.publish({ alignment: answer ? null : example?.alignment ?? null });
    if (!answer) return root.replaceChildren(empty(examples, busy));
    if (!region.isConnected) root.replaceChildren(region, note);
    body.show(answer);
    region.setAttribute('aria-busy', String(busy));
    copying.hidden = answer.state === 'streaming';
    note.textContent = byline(answer);
  }

  /** @param {string[]} examples @param {boolean} busy */
  function empty(examples, busy) {
    return make('div', { class: 'at-empty' },
      make('p', { class: 'at-empty-title', text: 'Type a sentence and watch the model translate it.' }),
      make('p', {
        class: 'at-quiet', text: 'Click any token (a word or part of one) in the translation to inspect it. Lines show which source words it came from.',
      }),
      ...(example ? [recorded(example, busy)] : []),
      makeExamples(examples, busy, (text) => trigger('example', { text })));
  }

  /** @param {RecordedTranslation} example @param {boolean} busy */
  function recorded({ model, text, turn }, busy) {
    const answer = makeAnswer(0);
    answer.show(turn);
    return make('section', { class: 'at-recorded', 'aria-label': 'Example translation' },
      makeExampleNote({ model, take: 'Use this translation', disabled: busy, onTake: () => takeOver('translate') }),
      make('p', { class: 'at-recorded-source', dir: 'auto', text }),
      make('div', { class: 'at-row at-top at-gap-sm at-translated' }, answer.node));
  }
}
