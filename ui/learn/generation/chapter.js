/**
 * How a text is generated: the loop token by token, what the settings do to one step, and beams in a tree of words.
 *
 * @typedef {{change: (changes: object) => void, toEnd: () => void, latest: (key: string) => any, form: any}}
 *   GenerationControls what a part is made with: `change` asks with other values, `toEnd` for the rest of the text;
 *   `latest`: a value as it was sent last, maybe still unanswered; `form`: the sliders and limits that there are
 * @typedef {{nodes: HTMLElement[], draw: (result: any) => void}} GenerationPart
 */

import { make } from '../../kit/js/dom.js';
import { askedComparison, showTab } from '../../kit/js/signals.js';
import { lessonPart, paragraph, plainButton, sideBySide } from '../lesson.js';
import { filtersPart } from './filters.js';
import { loopPart } from './loop.js';
import { searchPart } from './search.js';

const LOOP = ['mode', 'prompt', 'tokens', 'sample', 'seed']; // of a result: what the next question sends back

/** @type {import('../lesson.js').Build} */
export function build(root, ask) {
  /** @type {any} the values last sent or received */
  let now = {};
  const change = (changes) => {
    now = { ...now, ...changes };
    ask(now);
  };
  let answered = now;
  const latest = (key) => now[key] ?? answered[key]; // a value that was reset is not known before the answer
  const toEnd = () => ask({ ...now, to_end: true });
  /** @type {GenerationPart[]} made with the first result, which says what they offer */
  let parts = [];
  const body = make('div');
  const restart = () => {
    parts = [];
    ask({});
  };
  root.append(
    paragraph('A language model does one thing: it reads a text and gives every token of its vocabulary a '
      + 'probability of coming next. A whole text comes from doing this over and over: choose a token, append it, '
      + 'and read the longer text.'),
    sideBySide(plainButton('Reset everything', restart)), body);
  ask({});

  return (result) => {
    const { form, loop, filters, search } = result;
    if (!parts.length) {
      parts = [loopPart, filtersPart, searchPart, comparisonPart].map((part) => part({ change, toEnd, latest, form }));
      body.replaceChildren(...parts.flatMap(({ nodes }) => nodes));
    }
    const { bars: _, stages: __, ...settings } = filters;
    now = answered = {
      ...Object.fromEntries(LOOP.map((key) => [key, loop[key]])), ...settings, tree: search.tree, words: search.words,
      beams: search.beams,
    };
    parts.forEach(({ draw }) => draw(result));
  };
}

/** The settings of this chapter as cards of Compare. @returns {GenerationPart} */
function comparisonPart() {
  /** @type {any} */
  let shown = null;
  const list = make('ol', { class: 'at-gen-cards' });
  const limit = make('p', { class: 'at-quiet', text: 'In Compare, the temperature ends at 2.' });
  const open = make('button', {
    type: 'button', class: 'at-primary', text: 'Open in Compare', onclick: () => {
      const { cards, loop } = shown;
      askedComparison.publish({ text: loop.prompt, answer: loop.mode === 'message', cards });
      showTab('Compare');
    },
  });
  const node = lessonPart('The same settings side by side',
    paragraph('Compare lets a model continue one prompt under several settings at once, with the same random '
      + 'numbers, and marks where the texts begin to differ. These are yours, on a card each:'),
    list, limit, open);

  function draw(result) {
    shown = result;
    const isCut = result.cards.some(({ temperature }) => temperature < result.filters.temperature);
    list.replaceChildren(...result.cards.map((card) => make('li', { text: cardName(card) })));
    limit.hidden = !isCut;
  }

  return { nodes: [node], draw };
}

/** @param {Record<string, any>} card its settings */
function cardName({ strategy, num_beams: beams, ...settings }) {
  if (strategy === 'greedy') return 'Greedy decoding';
  if (strategy === 'beam') return `Beam search with ${beams} beams`;
  const changed = Object.entries(settings).map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`.replace('-', '−'));
  return changed.length ? `Sampling with ${changed.join(', ')}` : 'Sampling from the model’s own probabilities';
}
