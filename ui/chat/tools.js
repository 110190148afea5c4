/**
 * The buttons under a message: those of its versions and its actions.
 */

/** @import { TurnValue } from '../runs/runs_contract' */

import { iconButton, make, makeButton } from '../kit/js/dom.js';
import { copyButton } from '../kit/js/transfer.js';
import { makeMenu } from './menu.js';

/**
 * @typedef {{last: boolean, busy: boolean}} Standing whether it is the last message, and whether a run is going on
 * @typedef {{turn: () => TurnValue, trigger: (event: string, data?: object) => void, edit: () => void,
 *   turns: () => TurnValue[]}} Actions of the buttons; `trigger` adds the message's number
 */

/**
 * The row of buttons; `draw` replaces them when other buttons are needed.
 * @param {Actions} actions
 */
export function makeTools(actions) {
  const node = make('div', { class: 'at-row at-gap-2xs at-tools' });
  let drawnKey = '';

  /** @param {TurnValue} turn @param {Standing} standing */
  function draw(turn, standing) {
    const key = JSON.stringify([standing, turn.state === 'streaming', turn.unfinished, turn.versions]);
    if (drawnKey === key) return;
    drawnKey = key;
    const focused = node.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
    node.replaceChildren(...versions(turn, standing, actions), ...buttons(turn, standing, actions));
    if (focused !== null) refocus(focused);
  }

  /** Focuses the same button or, if it can't be pressed any more, the first that can. @param {string} label */
  function refocus(label) {
    const enabled = [...node.querySelectorAll('button')].filter((button) => !button.disabled);
    (enabled.find((button) => button.getAttribute('aria-label') === label) ?? enabled[0])?.focus();
  }

  return { node, draw };
}

/** The arrows between the versions of a message. @param {TurnValue} turn @param {Standing} standing @param {Actions} actions */
function versions({ versions: [current, count] }, { busy }, { trigger }) {
  if (count < 2) return [];
  const previous = iconButton('previous', 'Previous version', () => trigger('version', { version: current - 1 }));
  const next = iconButton('next', 'Next version', () => trigger('version', { version: current + 1 }));
  previous.disabled = busy || current === 0;
  next.disabled = busy || current === count - 1;
  const label = make('span', { 'aria-label': `Version ${current + 1} of ${count}`, role: 'img', text: `${current + 1}/${count}` });
  return [make('span', { class: 'at-row at-sm at-quiet at-versions', role: 'group', 'aria-label': 'Versions of this message' }, previous, label, next)];
}

/** @param {TurnValue} turn @param {Standing} standing @param {Actions} actions */
function buttons({ role, state, unfinished }, { last, busy }, { turn, trigger, edit, turns }) {
  if (state === 'streaming') return [];
  const copying = copyButton('Copy', () => turn().text);
  if (role === 'user') return [...(busy ? [] : [iconButton('edit', 'Edit', edit)]), copying];
  if (!last || busy) return [copying];
  const proceed = makeButton('Continue', () => trigger('proceed'), { title: 'Continue from here with the same settings' });
  return [
    ...(unfinished ? [proceed] : []),
    iconButton('retry', 'Retry: get another answer', () => trigger('retry')),
    iconButton('undo', 'Undo: take your message back', () => trigger('undo')),
    copying, makeMenu(turns),
  ];
}
