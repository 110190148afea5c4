/**
 * The messages of a conversation. A value has all of them; an update has only what is new in an answer that is being written.
 * Updates may be lost or arrive out of order.
 */

/** @import { AnswerUpdate, TurnValue, TurnsValue } from './runs_contract' */

import { connectionLost } from '../kit/js/signals.js';
import { followValue } from '../kit/js/values.js';

/** @type {TurnsValue} */
export const EMPTY = { turns: [], examples: [], busy: false };

/**
 * Draws the messages whenever a value of the component changes them; if an update is missing, asks for all of them.
 * @template {TurnsValue} Value
 * @param {import('../kit/js/gradio').Component} component
 * @param {(value: Value) => void} draw
 * @param {(value: Value, until: (saved: Promise<unknown>) => void) => void} rescue saves the messages, since the server is lost
 */
export function followTurns(component, draw, rescue) {
  let current = EMPTY;
  followValue(component, (value) => {
    const next = applyUpdate(current, value);
    if (!next) return component.trigger('missing', {});
    if (next === current) return;
    current = next;
    draw(/** @type {Value} */ (next));
  });
  connectionLost.subscribe(component.element, ({ until }) => {
    const isGrowing = current.turns.at(-1)?.state === 'streaming';
    current = interrupted(current);
    draw(/** @type {Value} */ (current));
    if (isGrowing) rescue(/** @type {Value} */ (current), until);
  });
}

/** The messages once the last one can't be continued. @param {TurnsValue} current @returns {TurnsValue} */
export function interrupted(current) {
  const last = current.turns.at(-1);
  if (last?.state !== 'streaming') return { ...current, busy: true };
  const stopped = /** @type {const} */ ({ ...last, state: 'stopped', note: 'the connection was lost' });
  return { ...current, busy: true, turns: [...current.turns.slice(0, -1), stopped] };
}

/**
 * The stage of a conversation, on which the styles of the buttons around it depend. It follows the answer itself, because
 * Gradio may lose an update of the buttons when two events meet, which left Send where Stop should be.
 * @param {TurnValue[]} turns
 * @returns {'empty' | 'streaming' | ''}
 */
export function stage(turns) {
  if (!turns.length) return 'empty';
  return turns.at(-1).state === 'streaming' ? 'streaming' : '';
}

/**
 * The messages after a value has arrived.
 * @param {TurnsValue} current
 * @param {TurnsValue | AnswerUpdate} value
 * @returns {TurnsValue | null} the same object if nothing is new; null if an update before this one is missing
 */
export function applyUpdate(current, value) {
  if ('turns' in value) return isLate(current, value) ? current : value;
  const index = current.turns.findIndex((turn) => turn.run === value.run);
  const answer = current.turns[index];
  if (!answer || answer.version < value.base) return null;
  if (answer.version >= value.version) return current;
  return { ...current, busy: value.busy, turns: current.turns.with(index, updated(answer, value)) };
}

/**
 * Whether a value is older than the current messages, as a whole or in an answer that has grown since.
 * @param {TurnsValue} current
 * @param {TurnsValue} value
 */
function isLate(current, value) {
  const received = value.turns;
  return (value.number ?? 0) < (current.number ?? 0)
    || current.turns.some(({ run, version }, index) => received[index]?.run === run && received[index].version < version);
}

/** @param {TurnValue} answer @param {AnswerUpdate} update @returns {TurnValue} */
function updated(answer, { since, tokens: added, state, note, unfinished, version }) {
  const tokens = (answer.tokens ?? []).slice(0, since).concat(added);
  return { ...answer, text: tokens.map(({ text }) => text).join(''), tokens, state, note, unfinished, version };
}
