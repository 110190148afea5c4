/**
 * Context usage: a line of text, and a bar of the tokens that are used and, in Chat, reserved for an answer. In Compare it is
 * the usage of the longest card.
 */

/** @import { MeterValue } from '../runs/runs_contract' */

import { find } from '../kit/js/dom.js';
import { panelSettings, shownTab } from '../kit/js/signals.js';
import { counted } from '../kit/js/text.js';

/**
 * The tokens that are reserved for the rest of an answer, as the model's chat format does: at most half the context.
 * @param {MeterValue} value
 * @param {number} length the most tokens of an answer
 */
export const keptRoom = ({ used, limit, answered }, length) =>
  Math.max(0, Math.min(Math.min(length, Math.floor(limit / 2)) - answered, limit - used));

/**
 * @param {MeterValue} value
 * @param {number} reserved
 * @param {string} tab that is in sight
 * @param {number} [length] the most tokens of an answer: where fewer are reserved, it says why
 */
export function meterText({ used, limit, note }, reserved, tab, length = 0) {
  const reason = reserved === Math.floor(limit / 2) && length > reserved && !note ? ' (at most half the context)' : '';
  return [
    `${tab === 'Compare' ? 'Longest card: ' : ''}${counted.format(used)} of ${counted.format(limit)} tokens used`
      + (reserved ? `, ${counted.format(reserved)} reserved for the answer${reason}` : ''),
    ...(note ? [note] : []),
  ].join(' · ');
}

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, watch }) {
  const meter = find(element, '.attend-meter');
  const text = find(element, '.attend-meter-text');
  const bar = find(element, '.attend-meter-bar');
  let length = 0; // the maximum length of an answer, in tokens
  /** @type {MeterValue | null} of the tab in sight */
  let value = null;

  function receive() {
    /** @type {MeterValue | null} */
    const next = props.value;
    if (!next || (next.tab && next.tab !== shownTab.latest)) return; // another tab's text is growing
    value = next;
    draw();
  }

  function draw() {
    if (!value) return;
    const tab = shownTab.latest ?? '';
    const reserved = tab === 'Chat' ? keptRoom(value, length) : 0;
    text.textContent = meterText(value, reserved, tab, length);
    text.title = text.textContent; // there may not be room for all of a note
    bar.style.setProperty('--used-share', String(value.used / value.limit));
    bar.style.setProperty('--taken-share', String((value.used + reserved) / value.limit));
    bar.classList.toggle('full', value.used > 0.9 * value.limit);
    meter.toggleAttribute('data-unused', !value.used);
  }

  panelSettings.subscribe(element, ({ max_new_tokens: most }) => {
    if (length === most) return;
    length = most > 0 ? Math.floor(most) : 0;
    draw();
  });
  shownTab.subscribe(element, draw);
  watch('value', receive);
  receive();
}
