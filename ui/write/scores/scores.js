/**
 * Any text: the text in Write's box, scored by the model in use and, beside it, by another one. The button stands under the box
 * (ui/write/tab.py); here are the progress, Stop and the choice of the other model. Events: 'score' and 'stop'.
 */

/** @import { ScoredText, ScoresReply } from './scores_contract' */

import { find, make, makeButton } from '../../kit/js/dom.js';
import { Questions } from '../../kit/js/questions.js';
import { textToScore } from '../../kit/js/signals.js';
import { counted } from '../../kit/js/text.js';
import { followValue } from '../../kit/js/values.js';
import { makeReport } from './report.js';

const PATIENCE = 400; // milliseconds until it says how far it is

/** @param {import('../../kit/js/gradio').Component} component */
export function start(component) {
  const { element, trigger } = component;
  const root = find(element, '.attend-scores');
  const questions = new Questions(trigger);
  let text = '';
  let turn = 0;
  let asked = 0; // the turn of the open question; a later one is that of Stop
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
  report.save.hidden = true;
  const result = make('div', { class: 'at-stack', hidden: true }, beside, report.node);
  const heading = make('h2', { id: 'attend-scores-title', class: 'at-grow', text: 'How surprising the text is' });
  const panel = make('section', { class: 'at-panel at-stack at-scores', 'data-colour': 'probability', 'aria-labelledby': heading.id },
    make('div', { class: 'at-row' }, heading, report.save, make('button', { type: 'button', class: 'at-icon', 'aria-label': 'Close the scored text', title: 'Close', text: '×', onclick: close })),
    running, result);
  followValue(component, receive);
  textToScore.subscribe(root, (given) => {
    text = given;
    ask('', ([own]) => {
      scores = [own];
      if (other && own.others.some(({ name }) => name === other)) compare(other);
    });
  });

  /** Ask for the text's score by a model. @param {string} model "" for the one in use @param {(scores: [ScoredText]) => void} then */
  function ask(model, then) {
    turn += 1;
    questions.drop(open);
    rest();
    asked = turn;
    waiting = setTimeout(tell, PATIENCE);
    open = questions.ask('score', { turn, text, model }, (/** @type {ScoresReply} */ { answer }) => {
      rest();
      if (!answer) return;
      then([answer]);
      draw();
    });
  }

  /** @param {string} model "" for none */
  function compare(model) {
    other = model;
    scores = scores.slice(0, 1);
    if (model) ask(model, ([score]) => { scores = [scores[0], score]; });
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
    if (reply.number !== open || !questions.open || turn !== asked) return;
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
    show(scores.length > 0);
  }

  function draw() {
    const { others } = scores[0];
    choice.replaceChildren(new Option('no other model', ''), ...others.map(({ name, title }) => new Option(title, name)));
    choice.value = scores[1]?.model ?? '';
    beside.hidden = !others.length;
    result.hidden = report.save.hidden = false;
    show(true);
    report.show(scores);
    const { top } = panel.getBoundingClientRect();
    if (top < 0 || top > window.innerHeight / 2) panel.scrollIntoView();
  }

  /** @param {boolean} isShown */
  function show(isShown) {
    if (isShown !== panel.isConnected) root.replaceChildren(...(isShown ? [panel] : []));
  }

  function close() {
    stop(true);
    questions.drop(open);
    scores = [];
    rest();
    find(document.body, '#attend-score').focus();
  }
}
