/**
 * One card of a comparison: its settings in words, its text, where the text differs from the first card's, and its metrics. The
 * comparison decides which cards there are, what each shows, and whether it can be changed.
 *
 * @typedef {{run: string, tokens: import('../../runs/runs_contract').AnswerToken[], state: 'streaming' | 'done' | 'stopped', note: string | null,
 *   length: number, first_difference: number | null, metrics: (number | null)[]}} Result
 */

/** @import { MetricField } from '../compare_contract' */
/** @import { makeEditing } from './editing.js' */
/** @import { Range } from './metrics.js' */

import { iconButton, make, setText } from '../../kit/js/dom.js';
import { closeOnEscape } from '../../kit/js/keys.js';
import { followEnd } from '../../kit/parts/follow_end.js';
import { makeAnswer, tokenName } from '../../runs/answer.js';
import { makeMetrics } from './metrics.js';

const LAST_WORDS = 6; // of the prompt, before each card's text
const LINE = { height: 25, characters: 26 }; // of a text: px, and how many fit into the narrowest card
const MAX_LINES = 9; // what a longer text is scrolled in
const TOKEN = 5; // characters of one, with its space

/**
 * @param {MetricField[]} metricFields
 * @param {Pick<ReturnType<typeof makeEditing>, 'buttons' | 'form' | 'draw'> | null} editing null where nothing can be changed
 */
export function makeCard(metricFields, editing = null) {
  const title = make('h3', { class: 'at-grow' });
  const settings = make('p', { class: 'at-sm at-quiet at-card-words' });
  const widenButton = iconButton('widen', 'Show this card at full width', () => widen(!node.classList.contains('at-wide')));
  widenButton.classList.add('at-widen');
  const answer = makeAnswer(0, (isInspected) => node.classList.toggle('at-inspected', isInspected));
  const prompt = make('span', { class: 'at-card-prompt', dir: 'auto' });
  const text = make('div', { class: 'at-scroll at-card-text', tabindex: -1 }, prompt, answer.node);
  const differenceButton = make('button', { type: 'button', class: 'at-sm at-parted-note', onclick: showDifference });
  const note = make('p', { class: 'at-note' });
  const outdated = make('p', { class: 'at-sm at-outdated', hidden: true });
  const metrics = makeMetrics(metricFields);
  const written = make('i');
  const bar = make('div', { class: 'at-card-bar', 'aria-hidden': 'true' }, written);
  const node = make('article', { class: 'at-card at-panel at-stack at-gap-sm' }, bar,
    make('div', { class: 'at-row at-top at-gap-2xs at-card-head' }, title, widenButton, ...(editing?.buttons ?? [])), settings,
    ...(editing ? [editing.form.node] : []), text, outdated, differenceButton, note, metrics.node);
  const end = followEnd(text);
  /** @type {HTMLElement | null} the first token that differs from the first card's */
  let differingToken = null;
  let isGrowing = false;

  widenButton.setAttribute('aria-pressed', 'false');
  closeOnEscape(node, () => {
    widen(false);
    widenButton.focus();
  }, () => node.classList.contains('at-wide'));

  /** @param {boolean} isWide over the full width, and as high as its text */
  function widen(isWide) {
    node.classList.toggle('at-wide', isWide);
    widenButton.setAttribute('aria-pressed', String(isWide));
    widenButton.scrollIntoView({ block: 'nearest' });
  }

  /**
   * @param {{number: number, words: {name: string[], others: string[]}, prompt: string, result: Result | null, first: Result | null, stale: string,
   *   ranges: Range[], busy?: boolean, removable?: boolean}} now the last two are for its editing
   */
  function show(now) {
    const { number, words: { name, others }, result } = now;
    const label = `Card ${number}: ${[...name, ...others].join(', ')}`;
    if (node.getAttribute('aria-label') !== label) { // most often only the text has grown
      node.setAttribute('aria-label', label);
      const parts = name.flatMap((part, index) => [index ? ' · ' : ' ', make('span', { text: part })]);
      title.replaceChildren(...(name.length ? [make('b', { text: number }), ...parts] : [`Card ${number}`]));
      settings.textContent = others.join(' · ');
    }
    node.classList.toggle('at-stale', Boolean(now.stale));
    editing?.draw({ busy: now.busy, removable: now.removable });
    const share = result?.state === 'streaming' ? result.tokens.length / result.length : 0;
    written.style.setProperty('--part', String(share)); // the bar is scaled, so nothing is laid out
    drawText(result);
    if (result) text.style.setProperty('--room', `${roomFor(now.prompt, result.length)}px`);
    setText(prompt, now.prompt);
    drawDifference(now);
    const wasGrowing = isGrowing;
    isGrowing = result?.state === 'streaming';
    if (isGrowing) end.follow(!wasGrowing);
    else if (wasGrowing) end.toBeginning();
    outdated.hidden = !now.stale;
    if (now.stale) outdated.textContent = `Old result: ${now.stale.toLowerCase()}`;
    setText(note, result?.note || (result?.state === 'stopped' ? 'stopped' : ''));
    metrics.node.hidden = !result;
    if (result) metrics.show(result.metrics, now.ranges);
  }

  /** @param {Result | null} result */
  function drawText(result) {
    const tokens = result ? result.tokens : [];
    answer.show({
      text: tokens.map(({ text: word }) => word).join(''), tokens, run: result && result.run,
      state: result ? result.state : 'done',
    });
    text.classList.toggle('at-waiting', !result);
  }

  /** Scroll the text to the first token that differs, and inspect it. */
  function showDifference() {
    const [{ top, bottom }, frame] = [differingToken, text].map((element) => element.getBoundingClientRect());
    if (top < frame.top || bottom > frame.bottom) text.scrollTop += top - frame.top - (frame.height - bottom + top) / 2;
    differingToken.click();
  }

  /** @param {{number: number, result: Result | null, first: Result | null}} now */
  function drawDifference({ number, result, first }) {
    const index = result ? result.first_difference : null;
    const token = index === null ? null : answer.token(index) || null;
    if (token !== differingToken) {
      differingToken?.classList.remove('at-parted');
      token?.classList.add('at-parted');
      differingToken = token;
    }
    differenceButton.disabled = !token;
    differenceButton.hidden = !result || !result.tokens.length;
    const isRunning = result?.state === 'streaming' || first?.state === 'streaming';
    setText(differenceButton, number === 1 ? 'Baseline'
      : token ? `Differs from token ${index + 1}: ${wordAt(result, index)} instead of ${wordAt(first, index)}`
        : isRunning ? 'Same as card 1 so far' : 'No token differs from card 1');
  }

  return { node, show };
}

/** @param {Result | null} result @param {number} index */
const wordAt = (result, index) => `“${tokenName(result?.tokens[index] ?? { text: '' })}”`;

/** The inspector stands under the cards: scroll to it as far as the token stays in sight. @param {HTMLElement} token */
export function reveal(token) {
  const { bottom } = document.querySelector('.attend-inspector').getBoundingClientRect();
  const room = Math.min(bottom - window.innerHeight + 12, token.getBoundingClientRect().top - 90);
  const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
  if (room > 0) window.scrollBy({ top: room, behavior });
}

/** The height of a text as long as it may get, in px: while it grows, nothing moves. @param {string} prompt @param {number} length */
function roomFor(prompt, length) {
  const lines = Math.ceil((prompt.length + TOKEN * length) / LINE.characters);
  return LINE.height * Math.min(lines, MAX_LINES) + 7; // and the edge of one more
}

/** How a prompt ends. @param {string} prompt */
export function lastWords(prompt) {
  const words = prompt.split(/(?<=\s)/);
  return words.length > LAST_WORDS ? `… ${words.slice(-LAST_WORDS).join('')}` : prompt;
}
