/**
 * What filters do to probabilities: a row for each token, its bar before in grey and after in colour, over each other.
 */

import { make } from './dom.js';

/** @param {string | null} name for screen readers */
export const changeList = (name = null) => make('ul', { class: 'at-changes', 'aria-label': name });

/**
 * @param {HTMLElement} label
 * @param {{name: string, before: number, after: number, largest: number, gone?: string, written: (p: number) => string,
 *   both?: boolean}} change `largest`: the probability that fills the row; `gone`: what stands in place of a probability that
 *   nothing is left of; `both`: the one before is in sight as a number, too
 */
export function changeRow(label, { name, before, after, largest, written, gone = '', both = false }) {
  const bars = make('span', { class: 'at-bars', 'aria-hidden': 'true' });
  bars.style.setProperty('--before', String(Math.min(1, before / largest)));
  bars.style.setProperty('--after', String(Math.min(1, after / largest)));
  const left = gone || written(after);
  return make('li', { class: gone && 'at-quiet', title: `${name}: ${written(before)} → ${left}` },
    label, bars, make('span', { class: both ? 'at-share at-number' : 'at-hidden' }, written(before), make('span', { class: 'at-hidden', text: ' before, ' })),
    make('span', { class: 'at-share at-number', text: left }));
}
