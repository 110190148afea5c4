/**
 * The text of an answer, made of tokens that can be clicked: the turns of a conversation, the cards of a comparison.
 *
 * It draws a text from the first token that has changed, and marks the token in the inspector. It does not know where the text
 * comes from.
 *
 * @typedef {{node: HTMLElement, number: number, show: (answer: Answer) => void, mark: (token: any) => void,
 *   run: () => string | null, token: (index: number) => HTMLElement | undefined}} ShownAnswer
 * @typedef {import('./runs_contract').AnswerToken} Token
 * @typedef {{text: string, tokens: Token[] | null, run: string | null, state: string}} Answer
 */

import { around, make } from '../kit/js/dom.js';
import { moveAlongRow } from '../kit/js/keys.js';
import { selectToken, shownToken } from '../kit/js/signals.js';
import { isWidthless, level, percent, visibleText } from '../kit/js/text.js';

/** @type {WeakMap<Element, ShownAnswer>} by their nodes */
const answers = new WeakMap();
/** The token that the inspector shows, and how much it looked at the others. */
let marked = { run: null, index: null, levels: null };
shownToken.subscribe(null, (token) => {
  marked = token;
  for (const node of document.querySelectorAll('.at-text')) answers.get(node)?.mark(marked);
});

/**
 * The text of one answer: its tokens, or plain where there are none.
 * @param {number} number whose it is
 * @param {(isShown: boolean) => void} [onShown] told when the inspector turns to one of its tokens, and away from them
 */
export function makeAnswer(number, onShown = () => {}) {
  const node = make('div', { class: 'at-text', dir: 'auto' });
  const caret = make('span', { class: 'at-caret', 'aria-hidden': 'true' });
  let run = null;
  let plain = '';
  /** @type {Token[]} */
  let shown = [];
  /** @type {HTMLElement[]} of the tokens */
  const spans = [];
  let bright = null;
  let shaded = false;

  /** @param {Answer} answer */
  function show(answer) {
    if (answer.run !== run) shown = [];
    run = answer.run;
    if (answer.tokens) showTokens(answer.tokens);
    else showText(answer.text);
    if (answer.state === 'streaming') node.append(caret);
    else caret.remove();
  }

  /** @param {string} text */
  function showText(text) {
    if (plain !== text || spans.length) node.textContent = text;
    plain = text;
    shown = [];
    spans.length = 0;
  }

  /** @param {Token[]} tokens */
  function showTokens(tokens) {
    if (plain) node.replaceChildren();
    plain = '';
    const kept = commonPrefix(shown, tokens);
    for (const span of spans.splice(kept)) span.remove();
    tokens.slice(0, kept).forEach((token, index) => {
      if (token.label && !shown[index].label) spans[index].title = titleOf(token);
    });
    shown = tokens;
    const fresh = tokens.slice(kept).map((token, i) => tokenSpan(token, kept + i, isWithinLine(tokens, kept + i)));
    spans.push(...fresh);
    node.append(...fresh);
    const [first] = spans;
    if (first && !node.querySelector('[tabindex="0"]')) first.tabIndex = 0;
    if (fresh.length) mark(marked);
  }

  /** @param {typeof marked} now the token that the inspector shows, and where it looked */
  function mark(now) {
    const mine = run !== null && now.run === run;
    const wanted = mine && now.index !== null ? spans[now.index] : undefined;
    if (bright !== wanted) {
      bright?.classList.remove('at-shown');
      wanted?.classList.add('at-shown');
      if (Boolean(bright) !== Boolean(wanted)) onShown(Boolean(wanted));
      bright = wanted;
    }
    const levels = mine ? now.levels : null;
    if (!levels && !shaded) return;
    spans.forEach((span, index) => {
      if (levels) span.dataset.attention = String(levels[index] ?? 0);
      else delete span.dataset.attention;
    });
    shaded = Boolean(levels);
  }

  const shownAnswer = { node, number, show, mark, run: () => run, token: (index) => spans[index] };
  answers.set(node, shownAnswer);
  return shownAnswer;
}

/**
 * A message of a conversation: its text in a bubble, which says to a screen reader whose it is.
 * @param {'user' | 'assistant'} role
 * @param {number} number whose it is
 */
export function makeBubble(role, number) {
  const body = makeAnswer(number);
  const node = make('div', { class: 'at-bubble' },
    make('span', { class: 'at-hidden', text: role === 'user' ? 'You: ' : 'Answer: ' }), body.node);
  return { node, body };
}

/** How many tokens in front are the same. @param {Token[]} tokens @param {Token[]} others */
function commonPrefix(tokens, others) {
  const count = Math.min(tokens.length, others.length);
  for (let index = 0; index < count; index += 1) {
    const [one, other] = [tokens[index], others[index]];
    if (one !== other && (one.text !== other.text || one.probability !== other.probability)) return index;
  }
  return count;
}

/** Whether a token follows a word. @param {Token[]} tokens @param {number} index */
function isWithinLine(tokens, index) {
  let before = index - 1;
  while (before >= 0 && !tokens[before].text) before -= 1;
  return before >= 0 && /\S$/u.test(tokens[before].text);
}

/** @param {Token} token */
const titleOf = ({ text, label, probability }) => `${label ?? visibleText(text)} · ${percent(probability)}`;

/**
 * One whose text takes no room, such as the end token, has a shape beside it, which is no part of the text: a mark keeps the
 * letter before it, a line end its line.
 * @param {Token} token @param {number} index @param {boolean} inLine behind a word
 */
function tokenSpan(token, index, inLine) {
  const { text, probability } = token;
  return make('span', {
    class: 'at-tok', role: 'button', tabindex: -1, text, title: titleOf(token),
    'data-shape': isWidthless(text) ? (/^\p{M}/u.test(text) ? 'after' : 'before') : null, 'data-level': level(probability), 'data-index': index,
    'data-space': inLine && /^ \S/u.test(text),
  });
}

/**
 * Let the tokens inside be clicked, and reached with the keys.
 * @param {HTMLElement} container
 * @param {(answer: ShownAnswer, index: number) => void} ask for a run that the inspector does not show
 * @param {(token: HTMLElement) => void} opened whenever one was
 */
export function offerTokens(container, ask, opened = () => {}) {
  /** @param {HTMLElement | null} span the inspector shows it at once, or the server is asked for its run */
  function open(span) {
    if (!span || String(getSelection()).length) return; // a text selection, not a click on a token
    const answer = answers.get(span.parentElement);
    const index = Number(span.dataset.index);
    if (!selectToken(answer.run(), index)) ask(answer, index);
    opened(span);
  }

  container.addEventListener('click', (event) => open(around(event, '.at-tok')));
  container.addEventListener('keydown', (event) => {
    const text = around(event, '.at-tok')?.parentElement;
    if (text) moveAlongRow(event, [.../** @type {NodeListOf<HTMLElement>} */ (text.querySelectorAll('.at-tok'))], open);
  });
}

/** Who wrote an answer, and why it ended where that is to be said. @param {import('./runs_contract').TurnValue} turn */
export function byline(turn) {
  return [turn.model, turn.state === 'stopped' && 'stopped', turn.note].filter(Boolean).join(' · ');
}

/**
 * Buttons, one for each example.
 * @param {string[]} examples
 * @param {boolean} busy
 * @param {(text: string) => void} onPick
 */
export function makeExamples(examples, busy, onPick) {
  return make('div', { class: 'at-row at-wrap at-stretch at-examples' }, ...examples.map((text) => make('button', {
    type: 'button', class: 'at-example', dir: 'auto', disabled: busy, text, onclick: () => onPick(text),
  })));
}
