/**
 * Guess the next token: while a run of Chat or Write is held back, the student guesses each of its tokens; then it is shown
 * with its table and the reason. The whole run is in the page's memory: it is the view that waits.
 *
 * `data-guessing` of the body hides what would show more (ui/classroom/gradio.css): `ready` before the first run, `asked` while
 * its tokens are.
 */

/** @import { Candidate, Step } from '../inspector/step.js' */
/** @import { Run } from '../inspector/run.js' */
/** @import { Guess, Means } from './score_table.js' */
/** @import { Judged } from './guesses.js' */
/** @typedef {{gather: (guess: Guess) => Promise<Means>, reason: string}} Gathering `gather` adds a guess to the class's, and returns
 *   the class's means; `reason`: why there are none; "" if there are */

import { stepReason } from '../inspector/reason.js';
import { chosenOf } from '../inspector/step.js';
import { stepTable } from '../inspector/table.js';
import { makeStrip } from '../inspector/token_strip.js';
import { find, make, makeButton } from '../kit/js/dom.js';
import { alongColumn, alongRow, moveAlong, plainKey } from '../kit/js/keys.js';
import { inspectedRun } from '../kit/js/signals.js';
import { counted, percent, tokenChip } from '../kit/js/text.js';
import { followColour } from '../kit/js/theme.js';
import { bitsOf, choicesOf, commonPrefix, judged, judgedText } from './guesses.js';
import { scoreTable } from './score_table.js';

const MAX_OWN = 40; // characters of a guess

/** @param {number} round guesses, after which the whole text is shown @param {Gathering} gathering */
export function offerGuessing(round, { gather, reason }) {
  /** @type {Run | null} */
  let run = null;
  /** @type {string | null} the run whose tokens are guessed, or were */
  let name = null;
  /** @type {number[]} the tokens that the student has seen: none of them is asked */
  let seen = [];
  let askedIndex = -1; // the number of the token that is asked; -1 while the model is writing it
  let isGuessing = false;
  let isRevealed = false; // whether the token that was asked is shown
  /** @type {Guess[]} */
  let guesses = [];
  /** @type {Means} */
  let means = {};

  const strip = makeStrip(() => {}, 'The text so far');
  const title = make('h2', { text: 'Guess the next token' });
  const progress = make('span', { class: 'at-quiet at-md' });
  const waits = make('p', { class: 'at-quiet', role: 'status', text: 'Press the button that lets the model write. You guess each token before you see it.' });
  const choices = make('div', { class: 'at-row at-wrap', role: 'group', 'aria-label': 'Tokens to choose from' });
  const own = make('input', { type: 'text', class: 'at-text-field at-grow', maxlength: MAX_OWN, 'aria-label': 'Your own token', placeholder: 'Or type your own token', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
  const form = make('form', { class: 'at-row at-own-guess', onsubmit: submit }, own, make('button', { type: 'submit', class: 'at-primary', text: 'Guess' }));
  const asking = make('div', { class: 'at-stack' }, choices, form);
  const verdict = make('p', { class: 'at-verdict', role: 'status' });
  const next = makeButton('Next token', ask, { class: 'at-primary' });
  const explained = make('div', { class: 'at-explained-token' });
  const scores = make('section', { class: 'at-ruled', 'aria-label': 'Your guesses' });
  const leave = makeButton('Show the whole text', end);
  const buttons = make('div', { class: 'at-row at-wrap' }, next, leave);
  const node = make('section', { id: 'attend-guessing', class: 'at-view at-stack at-panel', 'aria-label': 'Guess the next token' },
    make('div', { class: 'at-row at-wrap at-between' }, title, progress), strip.node, waits, asking, verdict, buttons, explained, scores);
  find(document.body, '.attend-header').after(node);
  followColour(node);
  node.addEventListener('keydown', chooseByNumber);
  choices.addEventListener('keydown', (event) => {
    const press = (item) => item.click();
    moveAlong(event, buttonsOf(), press, event.key === 'ArrowUp' || event.key === 'ArrowDown' ? alongColumn : alongRow);
  });
  drawState('ready');
  inspectedRun.subscribe(node, receive);

  const buttonsOf = () => /** @type {HTMLElement[]} */ ([...choices.children]);

  /** @param {Run} inspected */
  function receive(inspected) {
    if (!['chat', 'write'].includes(inspected.mode)) return;
    run = inspected;
    if (run.name !== name && (run.isBusy || nextToken() < run.tokens.length)) begin();
    else if (!isGuessing) see(run.tokens.length);
    else if (askedIndex < 0) ask();
  }

  function begin() {
    name = run.name;
    guesses = [];
    isGuessing = true;
    waits.textContent = 'The model is writing …';
    drawState('asked');
    ask();
    scrollTo(0, 0);
  }

  /** The first token that the model has chosen and the student hasn't seen. */
  function nextToken() {
    const isAsked = ({ kind }, index) => kind === 'generated' && Boolean(run.steps[index]);
    const from = commonPrefix(seen, run.tokens);
    const offset = run.tokens.slice(from).findIndex((token, index) => isAsked(token, from + index));
    return offset < 0 ? run.tokens.length : from + offset;
  }

  /** @param {number} count of tokens at the beginning that are in sight */
  function see(count) {
    seen = run.tokens.slice(0, count).map(({ id }) => id);
  }

  /** Ask for the next token, if it is written; a search may still change its texts until it ends. */
  function ask() {
    const index = nextToken();
    const isWritten = index < run.tokens.length && !(run.isBusy && run.search.length);
    if (guesses.length === round || (!isWritten && !run.isBusy)) return end();
    askedIndex = isWritten ? index : -1;
    isRevealed = false;
    draw();
    if (!isWritten) return;
    own.value = '';
    choices.replaceChildren(...choicesOf(run.steps[askedIndex]).map((candidate, i) => make('button', {
      type: 'button', class: 'at-plain at-row at-gap-sm at-guess-choice', tabindex: i ? -1 : 0, onclick: () => reveal(judged(candidate)),
    }, ...(i < 9 ? [make('kbd', { class: 'at-quiet at-sm', text: i + 1 })] : []), tokenChip(candidate.text))));
    buttonsOf()[0].focus({ preventScroll: true });
  }

  /** @param {SubmitEvent} event */
  function submit(event) {
    event.preventDefault();
    if (own.value && askedIndex >= 0) reveal(judgedText(run.steps[askedIndex], own.value));
    else own.focus();
  }

  /** The keys 1 to 9 choose, but for whoever types a token. @param {KeyboardEvent} event */
  function chooseByNumber(event) {
    const button = /^[1-9]$/.test(plainKey(event)) && event.target !== own && !asking.hidden && buttonsOf()[Number(event.key) - 1];
    if (button) button.click();
  }

  /** @param {Judged} guess */
  async function reveal(guess) {
    const step = run.steps[askedIndex];
    const chosen = chosenOf(step);
    const first = run.tokens.findIndex(({ kind }) => kind === 'generated');
    const entry = { token: askedIndex - first, chosen: chosen.text, guess: guess.text, bits: guess.bits, modelBits: bitsOf(chosen.modelShare) };
    guesses.push(entry);
    isRevealed = true;
    see(askedIndex + 1);
    verdict.replaceChildren(...verdictWords(guess, chosen));
    explained.replaceChildren(stepTable(step, { take: null, ask: null }), stepReason(step));
    draw();
    next.focus({ preventScroll: true });
    const gathered = await gather(entry); // empty if the guess was refused
    means = { ...means, ...gathered }; // as they are by now: an earlier guess may have been answered meanwhile
    drawScores();
  }

  /** The whole text is shown, with the scores above it. */
  function end() {
    isGuessing = false;
    drawState('over');
    see(run.tokens.length);
    draw();
  }

  /** @param {'ready' | 'asked' | 'over'} state */
  function drawState(state) {
    document.body.dataset.guessing = state;
    strip.node.hidden = asking.hidden = verdict.hidden = buttons.hidden = explained.hidden = scores.hidden = true;
    node.hidden = state === 'over' && !guesses.length;
  }

  function draw() {
    const isAsking = isGuessing && askedIndex >= 0 && !isRevealed;
    title.textContent = isGuessing ? 'Guess the next token' : 'Your guesses';
    progress.textContent = isGuessing ? `Guess ${counted.format(guesses.length + (isRevealed ? 0 : 1))} of ${round}` : '';
    strip.node.hidden = !isGuessing;
    strip.update(isGuessing ? run.tokens.slice(0, isRevealed ? askedIndex + 1 : nextToken()) : []);
    strip.select(isRevealed ? askedIndex : -1);
    strip.node.scrollTop = strip.node.scrollHeight;
    waits.hidden = !isGuessing || isRevealed || isAsking;
    asking.hidden = !isAsking;
    verdict.hidden = explained.hidden = next.hidden = !isGuessing || !isRevealed;
    buttons.hidden = !isGuessing;
    drawScores();
  }

  function drawScores() {
    scores.hidden = !guesses.length;
    scores.replaceChildren(...(guesses.length ? scoreTable(guesses, means, reason) : []));
  }
}

/** @param {Judged} guess @param {Candidate} chosen @returns {(Node | string)[]} */
function verdictWords({ text, bits, others }, chosen) {
  const counts = others ? `, which counts as the average of the ${counted.format(others)} tokens that aren’t listed` : '';
  return ['You guessed ', tokenChip(text), `${counts}: ${bits.toFixed(1)} bits. The model chose `, tokenChip(chosen.text),
    `, to which it gave ${percent(chosen.modelShare)}: ${bitsOf(chosen.modelShare).toFixed(1)} bits.`];
}
