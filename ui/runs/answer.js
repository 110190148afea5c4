/**
 * The text of an answer, made of tokens that can be clicked: the turns of a conversation, the cards of a comparison.
 *
 * It draws a text from the first token that has changed, and marks the token that is in the inspector. It does not know where
 * the text comes from.
 *
 * @typedef {{node: HTMLElement, number: number, show: (answer: Answer) => void, mark: () => void,
 *   run: () => string | null, token: (index: number) => HTMLElement | undefined}} AnswerView
 * @typedef {import('./runs_contract').AnswerToken} Token
 * @typedef {{text: string, tokens: Token[] | null, run: string | null, state: string}} Answer
 */

import { around, make } from '../kit/js/dom.js';
import { moveAlong } from '../kit/js/keys.js';
import { selectToken, inspectedToken } from '../kit/js/signals.js';
import { isWidthless, level, percent, shadeByAttention, visibleText } from '../kit/js/text.js';

const BYTES = /^(<0x[0-9A-F]{2}>)+$/; // the name of a token that is a part of a character
const LINE_ENDS = /^[\n\r]+$/;

/** @type {WeakMap<Element, AnswerView>} by their nodes */
const answers = new WeakMap();
/** The token that the inspector shows, and how much it attends to the others. */
let inspected = { run: null, index: null, levels: null };
inspectedToken.subscribe(null, (token) => {
  inspected = token;
  for (const node of document.querySelectorAll('.at-text')) answers.get(node)?.mark();
});

/**
 * The text of one answer: its tokens, or plain where there are none.
 * @param {number} number of the message
 * @param {(isInspected: boolean) => void} [onInspect] called when the inspector turns to one of its tokens, and away from them
 */
export function makeAnswer(number, onInspect = () => {}) {
  const node = make('div', { class: 'at-text', dir: 'auto' });
  const caret = make('span', { class: 'at-caret', 'aria-hidden': 'true' });
  let run = null;
  let plain = '';
  /** @type {Token[]} as they were drawn last */
  let drawn = [];
  /** @type {HTMLElement[]} of the tokens */
  const spans = [];
  /** @type {HTMLElement | undefined} that of the token in the inspector */
  let marked;
  let isShaded = false;

  /** @param {Answer} answer */
  function show(answer) {
    if (answer.run !== run) drawn = [];
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
    drawn = [];
    spans.length = 0;
  }

  /** @param {Token[]} tokens */
  function showTokens(tokens) {
    if (plain) node.replaceChildren();
    plain = '';
    const kept = commonPrefix(drawn, tokens);
    for (const span of spans.splice(kept)) span.remove();
    tokens.slice(0, kept).forEach((token, index) => {
      if (token.label && !drawn[index].label) nameToken(spans[index], token);
    });
    drawn = tokens;
    const fresh = tokens.slice(kept).map((token, i) => tokenSpan(token, kept + i, isWithinLine(tokens, kept + i)));
    spans.push(...fresh);
    node.append(...fresh);
    const [first] = spans;
    if (first && !node.querySelector('[tabindex="0"]')) first.tabIndex = 0;
    if (fresh.length) mark();
  }

  /** Mark the token that the inspector shows, and shade those that it attends to. */
  function mark() {
    const isOurs = run !== null && inspected.run === run;
    const span = isOurs && inspected.index !== null ? spans[inspected.index] : undefined;
    if (marked !== span) {
      marked?.classList.remove('at-shown');
      span?.classList.add('at-shown');
      if (Boolean(marked) !== Boolean(span)) onInspect(Boolean(span));
      marked = span;
    }
    const levels = isOurs ? inspected.levels : null;
    if (levels || isShaded) shadeByAttention(spans, levels);
    isShaded = Boolean(levels);
  }

  const view = { node, number, show, mark, run: () => run, token: (index) => spans[index] };
  answers.set(node, view);
  return view;
}

/**
 * A message of a conversation: its text in a bubble, which tells a screen reader who wrote it.
 * @param {'user' | 'assistant'} role
 * @param {number} number of the message
 */
export function makeBubble(role, number) {
  const body = makeAnswer(number);
  const node = make('div', { class: 'at-bubble' },
    make('span', { class: 'at-hidden', text: role === 'user' ? 'You: ' : 'Answer: ' }), body.node);
  return { node, body };
}

/** How many tokens at the beginning are the same. @param {Token[]} tokens @param {Token[]} others */
function commonPrefix(tokens, others) {
  const count = Math.min(tokens.length, others.length);
  for (let index = 0; index < count; index += 1) {
    const [one, other] = [tokens[index], others[index]];
    if (one !== other && (one.text !== other.text || one.probability !== other.probability)) return index;
  }
  return count;
}

/** Whether a token follows a word, with no white space between. @param {Token[]} tokens @param {number} index */
function isWithinLine(tokens, index) {
  let before = index - 1;
  while (before >= 0 && !tokens[before].text) before -= 1;
  return before >= 0 && /\S$/u.test(tokens[before].text);
}

/** @param {Pick<Token, 'text' | 'label'>} token */
export const tokenName = ({ text, label }) => label ?? visibleText(text);

/** A token's element. @param {Token} token @param {number} index @param {boolean} inLine whether it follows a word */
function tokenSpan(token, index, inLine) {
  const { text, probability } = token;
  const span = make('span', {
    class: 'at-tok', role: 'button', tabindex: -1, text, 'data-level': level(probability), 'data-index': index,
    'data-space': inLine && /^ \S/u.test(text),
  });
  nameToken(span, token);
  return span;
}

/**
 * Say what a token is. If its text has no width, a shape stands beside it, which is no part of the text: after a combining mark,
 * so that the mark keeps its letter, and else before it, so that a line end keeps its line. A line end has its sign there, and a
 * token without a text, such as the end token, its name, once it has one. Bytes of a character, which the next tokens complete,
 * show only the shape.
 * @param {HTMLElement} span @param {Token} token
 */
function nameToken(span, { text, label, probability }) {
  const name = tokenName({ text, label });
  span.title = `${name} · ${percent(probability)}`;
  if (!isWidthless(text)) return;
  const isNamed = LINE_ENDS.test(text) || (label !== undefined && !BYTES.test(label));
  span.dataset.shape = isNamed ? 'name' : /^\p{M}/u.test(text) ? 'after' : 'before';
  span.dataset.name = name;
}

/**
 * Let the tokens inside be clicked, and reached by the keyboard.
 * @param {HTMLElement} container
 * @param {(answer: AnswerView, index: number) => void} ask called for a run that the inspector does not have
 * @param {(token: HTMLElement) => void} onOpen called with each token that was opened
 */
export function offerTokens(container, ask, onOpen = () => {}) {
  /** Show a token in the inspector, or ask the server for its run. @param {HTMLElement | null} span */
  function open(span) {
    if (!span || String(getSelection()).length) return; // a text selection, not a click on a token
    const answer = answers.get(span.parentElement);
    const index = Number(span.dataset.index);
    if (!selectToken(answer.run(), index)) ask(answer, index);
    onOpen(span);
  }

  container.addEventListener('click', (event) => open(around(event, '.at-tok')));
  container.addEventListener('keydown', (event) => {
    const text = around(event, '.at-tok')?.parentElement;
    if (text) moveAlong(event, [.../** @type {NodeListOf<HTMLElement>} */ (text.querySelectorAll('.at-tok'))], open);
  });
}

/** The model that wrote an answer, without which parts and, if it is worth saying, why the answer ended. @param {import('./runs_contract').TurnValue} turn */
export function byline(turn) {
  return [turn.model, turn.without && `without ${turn.without}`, turn.state === 'stopped' && 'stopped', turn.note].filter(Boolean).join(' · ');
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
