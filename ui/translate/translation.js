/**
 * What a translator wrote: one text made of clickable tokens, and examples while there is none.
 *
 * Events: 'token' (the inspector shows another run, or none), 'example', and 'missing' (updates were lost; send it whole).
 */

/** @import { TranslationValue } from './contract' */

import { find, iconButton, make } from '../kit/js/dom.js';
import { followColour } from '../kit/js/theme.js';
import { copy } from '../kit/js/transfer.js';
import { byline, makeAnswer, makeExamples, offerTokens } from '../runs/answer.js';
import { followTurns, stage } from '../runs/turns.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const { element, trigger } = component;
  const root = find(element, '.attend-translation');
  const body = makeAnswer(0);
  const note = make('p', { class: 'at-note', role: 'status' });
  const copyButton = iconButton('copy', 'Copy the translation', () => copy(body.node.textContent, copyButton));
  const region = make('div', { class: 'at-translated', role: 'region', 'aria-label': 'Translation' },
    body.node, make('div', { class: 'at-translated-tools' }, copyButton));


  followColour(root);
  offerTokens(root, (_, index) => trigger('token', { index }));
  followTurns(component, draw);

  /** @param {TranslationValue} value */
  function draw({ turns, examples, busy }) {
    document.body.dataset.translation = stage(turns);
    const [answer] = turns;
    if (!answer) return root.replaceChildren(empty(examples, busy));
    if (!region.isConnected) root.replaceChildren(region, note);
    body.show(answer);
    region.setAttribute('aria-busy', String(busy));
    copyButton.hidden = answer.state === 'streaming';
    note.textContent = byline(answer);
  }

  /** @param {string[]} examples @param {boolean} busy */
  function empty(examples, busy) {
    return make('div', { class: 'at-empty' },
      make('p', { class: 'at-empty-title', text: 'Type a sentence and watch the model translate it.' }),
      make('p', {
        class: 'at-quiet', text: 'Click any token (a word or part of one) in the translation to inspect it. Lines show which source words it came from.',
      }),
      makeExamples(examples, busy, (text) => trigger('example', { text })));
  }
}
