/**
 * The messages of a conversation. A value has all of them, an update only what is new in an answer that is being written.
 * Updates may be lost or arrive out of order.
 */

/** @import { AnswerUpdate, TurnValue, TurnsValue } from './runs_contract' */

import { connectionLost } from '../kit/js/signals.js';
import { unpacked } from '../kit/js/values.js';

/** @type {TurnsValue} */
export const EMPTY = { turns: [], examples: [], busy: false };

/**
 * Draw the messages whenever what came for a component changes them; where an update is missing, ask for all of them.
 * @template {TurnsValue} Value
 * @param {import('../kit/js/gradio').Component} component
 * @param {(shown: Value) => void} draw
 * @param {(shown: Value, until: (saved: Promise<unknown>) => void) => void} rescue what is shown has to be saved: the server is
 *   lost
 */
export function followTurns({ element, props, trigger, watch }, draw, rescue) {
  let shown = EMPTY;
  function receive() {
    if (!props.value) return;
    const next = applyUpdate(shown, /** @type {Value | AnswerUpdate} */ (unpacked(props.value)));
    if (!next) return trigger('missing', {});
    if (next === shown) return;
    shown = next;
    draw(/** @type {Value} */ (next));
  }
  watch('value', receive);
  receive();
  connectionLost.subscribe(element, ({ until }) => {
    const isGrowing = shown.turns.at(-1)?.state === 'streaming';
    shown = interrupted(shown);
    draw(/** @type {Value} */ (shown));
    if (isGrowing) rescue(/** @type {Value} */ (shown), until);
  });
}

/** What is left of messages of which the last was being written. @param {TurnsValue} shown @returns {TurnsValue} */
export function interrupted(shown) {
  const end = shown.turns.at(-1);
  if (end?.state !== 'streaming') return { ...shown, busy: true };
  const stopped = /** @type {const} */ ({ ...end, state: 'stopped', note: 'the connection was lost' });
  return { ...shown, busy: true, turns: [...shown.turns.slice(0, -1), stopped] };
}

/**
 * What the styles of the buttons around the messages depend on. It follows the answer itself, not an update of the
 * buttons: Gradio may lose one of those where two events meet, which left Send where Stop should be.
 * @param {TurnValue[]} turns
 * @returns {'empty' | 'streaming' | ''}
 */
export function stage(turns) {
  if (!turns.length) return 'empty';
  return turns.at(-1).state === 'streaming' ? 'streaming' : '';
}

/**
 * What is to be shown once a value has come.
 * @param {TurnsValue} shown
 * @param {TurnsValue | AnswerUpdate} value
 * @returns {TurnsValue | null} the very same where nothing is new; null where what would lead there is missing
 */
export function applyUpdate(shown, value) {
  if ('turns' in value) return isLate(shown, value) ? shown : value;
  const index = shown.turns.findIndex((turn) => turn.run === value.run);
  const answer = shown.turns[index];
  if (!answer || answer.version < value.base) return null;
  if (answer.version >= value.version) return shown;
  return { ...shown, busy: value.busy, turns: shown.turns.with(index, updated(answer, value)) };
}

/**
 * Whether a value was begun before what is shown, or tells an answer that has grown since.
 * @param {TurnsValue} shown
 * @param {TurnsValue} value
 */
function isLate(shown, value) {
  const received = value.turns;
  return (value.number ?? 0) < (shown.number ?? 0)
    || shown.turns.some(({ run, version }, index) => received[index]?.run === run && received[index].version < version);
}

/** @param {TurnValue} answer @param {AnswerUpdate} update @returns {TurnValue} */
function updated(answer, { since, tokens: added, state, note, unfinished, version }) {
  const tokens = (answer.tokens ?? []).slice(0, since).concat(added);
  return { ...answer, text: tokens.map(({ text }) => text).join(''), tokens, state, note, unfinished, version };
}
