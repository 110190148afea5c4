/**
 * "Why?": a fold under the inspector that asks what inside the model led to the selected token, in several views.
 *
 * Nothing is computed before it is opened. It asks one question at a time; where the visitor goes on to another token, run
 * or view, open questions are dropped and the server is told to end them. Events: 'ask' and 'leave'.
 */

/** @import { AnsweredQuestion, WhyReply } from './why_contract' */
/** @import { Step } from '../step.js' */

/** @typedef {{run: string, index: number, step: Step, text: string, pair: Pair | null}} Place a token that the model wrote, by its number among the
 *   explained ones; `text` names the text as it is now, since a run may go on; `pair`: two candidates that the visitor asks about */
/** @typedef {{chosen: number, rival: number | null}} Pair why the one and not the other, or not anything else */
/** @typedef {{answerTo: (question: string, detail?: object) => Promise<any>, isRecorded?: boolean}} Asking `answerTo` resolves with the
 *   answer; undefined where it was refused or is no longer wanted. `isRecorded`: only what was asked before can be answered */
/** @typedef {{node: HTMLElement, show: (place: Place) => void}} WhyView */

import { isExample } from '../../examples/example.js';
import { find, make } from '../../kit/js/dom.js';
import { Questions } from '../../kit/js/questions.js';
import { answeredWhy, askedWhy, inspectedStep, inspectedToken } from '../../kit/js/signals.js';
import { counted } from '../../kit/js/text.js';
import { followValue } from '../../kit/js/values.js';
import { makeRadioSwitch } from '../../kit/parts/radio_switch.js';

const PATIENCE = 500; // milliseconds until it says that the model is busy

const SHARED = new Set(['lens', 'lens_cell', 'words', 'parts', 'inputs']); // questions whose answers a file can show
const MAX_SHARED = 60;

const VIEWS = {
  lens: { label: 'Layers’ guesses', fetch: () => import('./lens.js') },
  pair: { label: 'Why X and not Y', fetch: () => import('./pair.js') },
  heads: { label: 'Heads', fetch: () => import('./heads.js') },
  patch: { label: 'Patch', fetch: () => import('./patch.js') },
};

/** @param {import('../../kit/js/gradio').Component} component */
export function start(component) {
  const { element, trigger } = component;
  const root = find(element, '.attend-why');
  const questions = new Questions(trigger);
  const about = { run: /** @type {string | null} */ (null), index: /** @type {number | null} */ (null), busy: false };
  let grown = 0; // how often a text has come to rest
  let step = /** @type {Step | null} */ (null);
  let chosen = /** @type {keyof typeof VIEWS} */ ('lens');
  let rival = /** @type {number | null} */ (null); // that the visitor asked about, until a view has it
  let isAsked = false; // the visitor has opened it, and it is to be scrolled into view
  /** @type {Partial<Record<string, Promise<WhyView>>>} */
  const openedViews = {};
  let turn = 0;
  let open = 0; // the number of the open question
  let answered = Promise.resolve();
  let waiting = 0;
  let frame = 0;

  const views = makeRadioSwitch('why-view', 'What to look at',
    /** @type {Record<keyof typeof VIEWS, string>} */ (Object.fromEntries(Object.entries(VIEWS).map(([name, { label }]) => [name, label]))),
    (view) => {
      chosen = view;
      goOn();
    });
  const status = make('span', { class: 'at-sm at-quiet', role: 'status' });
  const bar = make('progress', { class: 'at-progress at-causes-progress', hidden: true, 'aria-label': 'How far the answer is' });
  const body = make('div', { class: 'at-causes-body' });
  const fold = make('details', { class: 'at-ruled at-question at-causes' }, make('summary', {}, 'Why? ', make('span', { class: 'at-quiet', text: 'Look inside the model' })),
    make('div', { class: 'at-row at-wrap at-causes-head' }, views.node, bar, status), body);

  views.choose(chosen);
  fold.hidden = true;
  root.replaceChildren(fold);
  fold.addEventListener('toggle', () => {
    isAsked ||= fold.open;
    goOn();
  });
  inspectedToken.subscribe(root, ({ run, index, busy }) => {
    if (run === about.run && index === about.index && busy === about.busy) return;
    if (about.busy && !busy) {
      grown += 1;
      answeredWhy.publish({ run: null, answers: [] }); // they were about the text before
    }
    Object.assign(about, { run, index, busy });
    fold.hidden = run === null || isExample(run); // the server knows no such run
    fold.classList.toggle('at-resting', busy);
    later();
  });
  inspectedStep.subscribe(root, (inspected) => {
    step = /** @type {Step | null} */ (inspected.step);
    later();
  });
  askedWhy.subscribe(root, (question) => {
    if (fold.hidden) return; // a signal of an earlier page
    [rival, isAsked] = [question.rival, true];
    if (rival !== null) views.choose(chosen = 'pair');
    if (fold.open) goOn();
    else fold.open = true; // which makes it go on
  });
  followValue(component, receive);

  /** Both signals of a selected token come in one frame. */
  function later() {
    if (!frame) frame = requestAnimationFrame(goOn);
  }

  /** Drop what was asked, and draw what is chosen now. */
  async function goOn() {
    frame = 0;
    turn += 1;
    if (questions.open) trigger('leave', { turn });
    questions.drop(open);
    answered = Promise.resolve();
    rest();
    const { run, index, busy } = about;
    if (!fold.open || fold.hidden || busy || run === null) return;
    if (index === null || !step) {
      isAsked = false;
      body.replaceChildren(make('p', { class: 'at-quiet at-md', text: 'This token was given, not written by the model. Select a generated token to ask why it was chosen.' }));
      return;
    }
    const [mine, place] = [turn, { run, index, step, text: `${run}/${grown}` }];
    openedViews[chosen] ??= VIEWS[chosen].fetch().then((module) => module.makeView({ answerTo }));
    const view = await openedViews[chosen];
    if (mine !== turn) return;
    if (view.node.parentNode !== body) body.replaceChildren(view.node);
    view.show({ ...place, pair: rival === null ? null : { chosen: place.step.id, rival } });
    if (isAsked) fold.scrollIntoView();
    [rival, isAsked] = [null, false];
  }

  /** @type {Asking['answerTo']} */
  function answerTo(question, detail = {}) {
    const mine = turn;
    const { run, index } = about;
    const answer = answered.then(() => mine === turn ? new Promise((done) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { status.textContent = 'Asking the model…'; }, PATIENCE);
      open = questions.ask('ask', { turn, question, fields: { run, index, ...detail } }, (reply) => {
        rest();
        if (reply.answer && SHARED.has(question)) remember({ question, index, detail, answer: reply.answer }, run);
        done(reply.answer);
      });
    }) : undefined);
    answered = answer;
    return answer.then((value) => (mine === turn ? value : undefined));
  }

  /** @param {AnsweredQuestion} answer @param {string} run */
  function remember(answer, run) {
    const before = answeredWhy.latest?.run === run ? answeredWhy.latest.answers : [];
    answeredWhy.publish({ run, answers: [...before, answer].slice(-MAX_SHARED) });
  }

  /** @param {WhyReply} reply */
  function receive(reply) {
    if (!reply.progress) return questions.settle(/** @type {any} */ (reply));
    if (reply.number !== open || !questions.open) return;
    const [done, total] = reply.progress;
    clearTimeout(waiting);
    bar.hidden = false;
    bar.max = total;
    bar.value = done;
    status.textContent = `${counted.format(done)} of ${counted.format(total)}`;
  }

  function rest() {
    clearTimeout(waiting);
    bar.hidden = true;
    status.textContent = '';
  }
}
