/**
 * How the selected token was chosen: a headline with buttons to its neighbours, the table, the reason and the filters.
 */

/** @import { Step } from './step.js' */
/** @import { Run } from './run.js' */

import { mayChangeText } from '../kit/address/class_part.js';
import { iconButton, make, makeButton } from '../kit/js/dom.js';
import { askedWhy, inspectedStep } from '../kit/js/signals.js';
import { stepStages } from './filters.js';
import { stepReason } from './reason.js';
import { stepHeadline } from './step.js';
import { stepTable } from './table.js';

/**
 * @param {Run} run
 * @param {{move: (by: number) => void, follow: () => void, take: (index: number, id: number) => void}} actions `move`: select
 *   a neighbour; `take`: use another token in place of one
 */
export function makeStepPane(run, { move, follow, take }) {
  const newest = make('button', { type: 'button', class: 'at-follow', text: 'Newest', title: 'Follow the newest token', onclick: follow });
  const earlier = iconButton('previous', 'Earlier token', () => move(-1));
  const later = iconButton('next', 'Later token', () => move(1));
  const headline = make('div', { class: 'at-row at-wrap at-headline', 'aria-live': 'off' });
  const head = make('section', { class: 'at-ruled at-step', 'aria-label': 'Selected token' },
    make('div', { class: 'at-row at-between at-step-head' }, headline, make('div', { class: 'at-row at-gap-2xs at-fixed at-step-buttons' }, newest, earlier, later)));
  const table = make('div', { class: 'at-table-pane' });
  const reason = make('div', { class: 'at-reason' });
  const stages = make('div', { class: 'at-stages-pane' });
  const body = make('div', { class: 'at-step-pane' }, table, reason, stages);
  let selected = -1;
  /** @type {{step: Step | undefined, key: string} | null} what was drawn last */
  let before = null;

  /** @param {number} index @param {boolean} isFollowing whether the newest token is selected, whichever it is */
  function draw(index, isFollowing) {
    selected = index;
    const step = run.steps[index];
    newest.hidden = isFollowing || (index === run.newest && !run.isBusy);
    earlier.disabled = index <= 0;
    later.disabled = index >= run.tokens.length - 1;
    headline.replaceChildren(...stepHeadline({
      text: run.tokens[index].text, position: run.positionOf(index), step, why: 'part of the prompt, not generated',
    }));
    drawStep(step);
  }

  /** @param {Step | undefined} step */
  function drawStep(step) {
    const canTake = mayChangeText() && !run.isBusy && run.isExchangeable(selected);
    const canAsk = !run.isBusy && selected >= run.first && run.isKnown;
    const hasOthers = run.tokens.length > run.promptLength;
    const key = step ? `${run.name} ${selected} ${canTake} ${canAsk}` : `${hasOthers}`;
    if (before && before.step === step && before.key === key) return;
    before = { step, key };
    inspectedStep.publish({ step: step ?? null });
    const index = selected;
    table.replaceChildren(...(step ? [
      stepTable(step, {
        take: canTake ? (id) => take(index, id) : null, ask: canAsk ? (id) => askedWhy.publish({ rival: id }) : null,
      }),
      ...(canTake && canAsk ? [make('p', { class: 'at-quiet at-sm at-take-hint', text: 'Click a row to use its token; the text after it is removed.' })] : []),
    ] : [make('p', {
      class: 'at-quiet',
      text: `This token is part of the prompt.${hasOthers ? ' Select a generated token to see which others were possible.' : ''}`,
    })]));
    const lookInside = makeButton('Look inside the model', () => askedWhy.publish({ rival: null }), { class: 'at-plain at-sm', title: 'Which layers, words and heads led to this token?' });
    reason.replaceChildren(...(step ? [stepReason(step), ...(canAsk ? [lookInside] : [])] : []));
    reason.classList.toggle('at-broad', Boolean(step?.contrastive || step?.contrast)); // it has a table of many columns
    stages.replaceChildren(...(step ? stepStages(step) : []));
  }

  return { head, body, draw };
}
