/**
 * The effect of filters on probabilities: a row for each token, with a grey bar for its probability before them and a coloured
 * bar for its probability after them.
 */

import { make } from './dom.js';

/** @param {string | null} name for screen readers */
export const changeList = (name = null) => make('ul', { class: 'at-changes', 'aria-label': name });

/**
 * @param {HTMLElement} label
 * @param {{name: string, before: number, after: number, largest: number, gone?: string, written: (p: number) => string,
 *   both?: boolean}} change `largest` fills the row; `gone` is written in place of a probability of 0; `both`: the probability
 *   before is written, too
 */
export function changeRow(label, { name, before, after, largest, written, gone = '', both = false }) {
  const bars = make('span', { class: 'at-bars', 'aria-hidden': 'true' });
  bars.style.setProperty('--before', String(Math.min(1, before / largest)));
  bars.style.setProperty('--after', String(Math.min(1, after / largest)));
  const result = gone || written(after);
  return make('li', { class: gone && 'at-quiet', title: `${name}: ${written(before)} → ${result}` },
    label, bars, make('span', { class: both ? 'at-share at-number' : 'at-hidden' }, written(before), make('span', { class: 'at-hidden', text: ' before, ' })),
    make('span', { class: 'at-share at-number', text: result }));
}
