/**
 * A shared run, or translation, with what "Why?" was told of its tokens before it was shared.
 */

/** @import { AnsweredQuestion } from '../inspector/why/why_contract' */
/** @import { Place } from '../inspector/why/why.js' */

import { makeView as makeLens } from '../inspector/why/lens.js';
import { makeView as makePair } from '../inspector/why/pair.js';
import { make, makeButton } from '../kit/js/dom.js';
import { inspectedStep, inspectedToken, selectToken } from '../kit/js/signals.js';
import { visibleText } from '../kit/js/text.js';
import { showShared } from './shared_page.js';
import { drawRun, NAME } from './run.js';
import { drawTranslation } from './translation.js';

/** @type {[question: string, title: string, make: typeof makeLens | typeof makePair][]} what each view asks first */
const VIEWS = [['lens', 'Layers’ guesses', makeLens], ['words', 'Why X and not Y', makePair]];
const NAMED = new Set(['lens', 'lens_cell']); // whose answers name all that they are about: the one at hand will do

/** @param {string} json see `showShared` */
export const show = (json) => showShared(json, (root, run) => {
  const why = makeWhy(run.why, (index) => run.labels[run.steps[index].id]);
  if (run.source?.length) drawTranslation(root, run, why);
  else drawRun(root, run, { after: [why] });
  selectToken(NAME, run.why.at(-1).index);
});

/** @param {AnsweredQuestion[]} answers @param {(index: number) => string} nameOf a token that was asked about */
function makeWhy(answers, nameOf) {
  const body = make('div', { class: 'at-causes-body at-stack' });
  const node = make('section', { class: 'at-ruled at-causes at-view', 'aria-label': 'Why?' }, make('h3', { text: 'Why?' }), body);
  const tokens = [...new Set(answers.map(({ index }) => index))].map((index) => ({ index, name: visibleText(nameOf(index)) }));
  let place = /** @type {Place | null} */ (null);
  let drawn = /** @type {Place['step'] | null} */ (null);

  inspectedToken.subscribe(node, ({ run, index }) => {
    place = { ...place, run, index, text: run, pair: null };
  });
  inspectedStep.subscribe(node, ({ step }) => { // comes first of the two
    if (step === drawn) return;
    drawn = /** @type {Place['step']} */ (step);
    requestAnimationFrame(draw);
  });

  /** What was answered about a token; a table of guesses that has its row may have been asked for at another one. @param {number | null} token */
  function about(token) {
    const own = answers.filter(({ index }) => index === token);
    const tables = answers.filter(({ question, answer }) => question === 'lens' && answer.rows[token - answer.first]);
    return own.length ? [...tables, ...own] : [];
  }

  /** Show what was answered about the selected token, or which tokens were asked about. */
  function draw() {
    const here = about(place.index);
    const views = VIEWS.filter(([first]) => here.some(({ question }) => question === first));
    body.replaceChildren(...views.map(([first, title, makeView]) => {
      const view = makeView({ isRecorded: true, answerTo: async (question, detail = {}) => answerAmong(here, question, detail) });
      const pair = first === 'words' ? /** @type {Place['pair']} */ (here.findLast(({ question }) => question === first).detail) : null;
      requestAnimationFrame(() => view.show({ ...place, step: drawn, pair })); // once it has a width
      return make('section', { 'aria-label': title }, make('h4', { text: title }), view.node);
    }), ...(views.length ? [] : [make('p', { class: 'at-row at-wrap at-gap-sm at-md at-quiet' }, 'Before this was shared, Why? was asked about:',
      ...tokens.map(({ index, name }) => makeButton(name, () => selectToken(NAME, index))))]));
  }

  return node;
}

/** @param {AnsweredQuestion[]} answers @param {string} question @param {object} detail */
function answerAmong(answers, question, detail) {
  const alike = answers.filter((each) => each.question === question);
  const exact = alike.findLast((each) => JSON.stringify(each.detail) === JSON.stringify(detail));
  return (exact ?? (NAMED.has(question) ? alike.at(-1) : undefined))?.answer;
}
