/**
 * The buttons under a message: its versions, and what can be done with it.
 */

/** @import { TurnValue } from '../runs/runs_contract' */

import { iconButton, make } from '../kit/js/dom.js';
import { copy } from '../kit/js/transfer.js';
import { makeMenu } from './menu.js';

/**
 * @typedef {{last: boolean, busy: boolean}} Standing whether it is the last message, and whether a run is going on
 * @typedef {{turn: () => TurnValue, trigger: (event: string, data?: object) => void, edit: () => void,
 *   turns: () => TurnValue[]}} Actions what the buttons do; `trigger` adds the message's number
 */

/**
 * The row of buttons, which `draw` makes anew where others are needed.
 * @param {Actions} actions
 */
export function makeTools(actions) {
  const node = make('div', { class: 'at-row at-gap-2xs at-tools' });
  let drawn = '';

  /** @param {TurnValue} turn @param {Standing} standing */
  function draw(turn, standing) {
    const wanted = JSON.stringify([standing, turn.state === 'streaming', turn.unfinished, turn.versions]);
    if (drawn === wanted) return;
    drawn = wanted;
    const focused = node.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
    node.replaceChildren(...versions(turn, standing, actions), ...buttons(turn, standing, actions));
    if (focused !== null) refocus(focused);
  }

  /** The same button, or where it can no longer be pressed the first that can. @param {string} label */
  function refocus(label) {
    const able = [...node.querySelectorAll('button')].filter((button) => !button.disabled);
    (able.find((button) => button.getAttribute('aria-label') === label) ?? able[0])?.focus();
  }

  return { node, draw };
}

/** The arrows between the versions of a message. @param {TurnValue} turn @param {Standing} standing @param {Actions} actions */
function versions({ versions: [shown, count] }, { busy }, { trigger }) {
  if (count < 2) return [];
  const go = (/** @type {number} */ version) => () => trigger('version', { version });
  const back = iconButton('previous', 'Previous version', go(shown - 1));
  const on = iconButton('next', 'Next version', go(shown + 1));
  back.disabled = busy || shown === 0;
  on.disabled = busy || shown === count - 1;
  const label = make('span', { 'aria-label': `Version ${shown + 1} of ${count}`, role: 'img', text: `${shown + 1}/${count}` });
  return [make('span', { class: 'at-row at-sm at-quiet at-versions', role: 'group', 'aria-label': 'Versions of this message' }, back, label, on)];
}

/** @param {TurnValue} turn @param {Standing} standing @param {Actions} actions */
function buttons({ role, state, unfinished }, { last, busy }, { turn, trigger, edit, turns }) {
  if (state === 'streaming') return [];
  const copyButton = iconButton('copy', 'Copy', () => copy(turn().text, copyButton));
  if (role === 'user') return [...(busy ? [] : [iconButton('edit', 'Edit', edit)]), copyButton];
  if (!last || busy) return [copyButton];
  const goOn = make('button', {
    type: 'button', class: 'at-plain', title: 'Continue from here with the same settings', text: 'Continue',
    onclick: () => trigger('proceed'),
  });
  return [
    ...(unfinished ? [goOn] : []),
    iconButton('retry', 'Retry: get another answer', () => trigger('retry')),
    iconButton('undo', 'Undo: take your message back', () => trigger('undo')),
    copyButton, makeMenu(turns),
  ];
}
