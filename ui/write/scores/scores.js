/**
 * Any text: the text in Write's box, scored by the model in use and, beside it, by another one. The button stands under the box
 * (ui/write/write_tab.py); here are the progress, Stop, the choice of the other model, and why a text can't be scored. Events: 'score'
 * and 'stop'.
 */

/** @import { ScoredText, ScoreLimits, ScoresReply } from './scores_contract' */

import { find, make, makeButton } from '../../kit/js/dom.js';
import { Questions } from '../../kit/js/questions.js';
import { textToScore, writtenText } from '../../kit/js/signals.js';
import { counted } from '../../kit/js/text.js';
import { followValue, unpacked } from '../../kit/js/values.js';
import { makeReport } from './report.js';

const PATIENCE = 400; // milliseconds until it says how far it is

/** @param {import('../../kit/js/gradio').Component} component */
export function start(component) {
  const { element, props, trigger } = component;
  const root = find(element, '.attend-scores');
  const questions = new Questions(trigger);
  const { characters } = /** @type {ScoreLimits} */ (unpacked(props.limits));
  let text = ''; // that the panel is about
  let turn = 0;
  let openTurn = 0; // the turn of the open question; a later one is that of Stop
  let open = 0; // the number of the open question
  let waiting = 0;
  let latest = /** @type {ScoresReply} */ ({}); // about its progress
  let other = ''; // the model beside the one in use; "" for none
  /** @type {ScoredText[]} */
  let scores = [];

  const bar = make('progress', { class: 'at-progress at-grow', 'aria-label': 'How much of the text is scored' });
  const status = make('span', { class: 'at-sm at-quiet', role: 'status' });
  const running = make('div', { class: 'at-row at-scores-running', hidden: true }, bar, status, makeButton('Stop', () => stop(false), { class: 'at-plain at-stop' }));
  const choice = make('select', { onchange: () => compare(choice.value) });
  const beside = make('label', { class: 'at-row at-gap-sm at-sm at-quiet' }, 'Compare with', choice);
  const report = makeReport();
  const edited = make('div', { class: 'at-row at-wrap at-md', role: 'status', hidden: true }, make('span', { text: 'This is about the text before your edit.' }),
    makeButton('Score the new text', () => score(writtenText.latest ?? '')));
  const refusal = make('p', { class: 'at-optional', role: 'alert' });
  const result = make('div', { class: 'at-stack', hidden: true }, beside, report.node);
  const heading = make('h2', { id: 'attend-scores-title', class: 'at-grow', text: 'How surprising the text is' });
  const panel = make('section', { class: 'at-panel at-stack at-scores', 'data-colour': 'probability', 'aria-labelledby': heading.id },
    make('div', { class: 'at-row' }, heading, report.save, make('button', { type: 'button', class: 'at-icon', 'aria-label': 'Close the scored text', title: 'Close', text: '×', onclick: close })),
    running, edited, refusal, result);
  followValue(component, receive);
  textToScore.subscribe(root, score);
  writtenText.subscribe(root, markEdited);

  /** @param {string} content */
  function score(content) {
    ask(content, '', (own) => {
      text = content;
      scores = own ? [own] : [];
      if (own?.others.some(({ name }) => name === other)) compare(other);
    });
  }

  /**
   * Ask for a text's score by a model.
   * @param {string} content
   * @param {string} model "" for the one in use
   * @param {(score: ScoredText | null) => void} then null: it was refused
   */
  function ask(content, model, then) {
    stop(false);
    questions.drop(open);
    refusal.textContent = '';
    edited.hidden ||= isEmpty();
    rest();
    const length = [...content].length; // as Python counts
    if (length > characters) {
      return settle({ refused: `The text has ${counted.format(length)} characters, but the limit is ${counted.format(characters)}: score a part of it here, or a file of any length with generate.py --score --file FILE.` });
    }
    openTurn = turn;
    waiting = setTimeout(tell, PATIENCE);
    open = questions.ask('score', { turn, text: content, model }, settle);

    /** @param {ScoresReply} reply */
    function settle({ answer = null, refused = '' }) {
      rest();
      if (!answer && !refused) return;
      refusal.textContent = refused;
      then(answer);
      draw();
    }
  }

  /** @param {string} model "" for none */
  function compare(model) {
    other = model;
    scores = scores.slice(0, 1);
    refusal.textContent = '';
    if (model) ask(text, model, (second) => { scores = second ? [scores[0], second] : scores; });
    else {
      stop(true);
      draw();
    }
  }

  /** @param {boolean} isClosed whether nothing more is asked of the other model */
  function stop(isClosed) {
    turn += 1;
    if (questions.open || isClosed) trigger('stop', { turn, closed: isClosed });
    if (!running.hidden) status.textContent = 'Stopping after this part…';
  }

  /** @param {ScoresReply & {number: number}} reply */
  function receive(reply) {
    if (!reply.progress && !reply.loading) return questions.settle(reply);
    if (reply.number !== open || !questions.open || turn !== openTurn) return;
    latest = reply;
    if (!running.hidden) tell();
  }

  /** Say how far it is. */
  function tell() {
    const [done, total] = latest.progress ?? [0, 0];
    running.hidden = false;
    show(true);
    if (done) [bar.max, bar.value] = [total, done];
    else bar.removeAttribute('value');
    status.textContent = latest.loading ? `Loading ${latest.loading}…` : done ? `${counted.format(done)} of ${counted.format(total)} tokens` : 'Reading the text…';
  }

  function rest() {
    clearTimeout(waiting);
    latest = {};
    running.hidden = true;
    status.textContent = '';
    show(!isEmpty());
  }

  function draw() {
    const others = scores[0]?.others ?? [];
    choice.replaceChildren(new Option('no other model', ''), ...others.map(({ name, title }) => new Option(title, name)));
    choice.value = scores[1]?.model ?? '';
    beside.hidden = !others.length;
    result.hidden = report.save.hidden = !scores.length;
    markEdited();
    show(true);
    if (scores.length) report.show(scores);
    const { top } = panel.getBoundingClientRect();
    if (top < 0 || top > window.innerHeight / 2) panel.scrollIntoView();
  }

  /** Whether there is neither a score nor a refusal. */
  const isEmpty = () => !scores.length && !refusal.textContent;

  /** Say so where the panel is no longer about the text in the box. */
  function markEdited() {
    edited.hidden = isEmpty() || (writtenText.latest ?? '') === text;
  }

  /** @param {boolean} isShown */
  function show(isShown) {
    if (isShown !== panel.isConnected) root.replaceChildren(...(isShown ? [panel] : []));
  }

  function close() {
    stop(true);
    questions.drop(open);
    scores = [];
    refusal.textContent = '';
    rest();
    find(document.body, '#attend-score').focus();
  }
}
