/**
 * The guesses so far as a table of bars: the surprise of each guess to the model, of the model's own choice, and of the class's
 * guesses on average. Fewer bits are better.
 *
 * @typedef {{token: number, chosen: string, guess: string, bits: number, modelBits: number}} Guess `token`: counted from the
 *   first that was generated
 * @typedef {Record<number, {bits: number, count: number}>} Means of a class, by token
 */

import { barCell, headCells } from '../inspector/step.js';
import { make, makeTable } from '../kit/js/dom.js';
import { tokenChip } from '../kit/js/text.js';

/** @param {Guess[]} guesses @param {Means} means @param {string} reason why there are none; "" if there are */
export function scoreTable(guesses, means, reason) {
  const hasMeans = guesses.some(({ token }) => means[token]?.count > 1); // else it is the student's own
  const columns = [
    { head: 'You', of: ({ bits }) => bits },
    { head: 'Model', of: ({ modelBits }) => modelBits },
    ...(hasMeans ? [{ head: 'Class', of: ({ token }) => means[token]?.bits ?? NaN }] : []),
  ];
  const longest = Math.max(1, ...guesses.flatMap((guess) => columns.map(({ of }) => of(guess) || 0)));
  const rows = guesses.map((guess) => make('tr', {},
    make('th', { scope: 'row' }, tokenChip(guess.chosen)),
    make('td', {}, tokenChip(guess.guess)),
    ...columns.map(({ of }, index) => barCell(written(of(guess)), (of(guess) || 0) / longest, index ? 'at-before' : 'at-after'))));
  const sums = columns.map(({ of }) => guesses.reduce((sum, guess) => sum + of(guess), 0));
  rows.push(make('tr', { class: 'at-sum' }, make('th', { scope: 'row', text: 'Sum' }), make('td'),
    ...sums.map((sum) => make('td', { class: 'at-number', text: written(sum) }))));
  const head = headCells([{ text: 'Token' }, { text: 'Your guess' }, ...columns.map(({ head: text }) => ({ text }))]);
  head[1].className = '';
  const most = Math.max(0, ...guesses.map(({ token }) => means[token]?.count ?? 0));
  const ofClass = hasMeans ? ` The class column is the mean of up to ${most} guesses at each token.` : reason && ` ${reason}`;
  return [
    make('div', { class: 'at-scroll' }, makeTable({ class: 'at-grid at-guesses' }, head, rows, 'Your guesses, in bits')),
    make('p', { class: 'at-note', text: `In bits: how surprising each token is to the model, before every filter: −log₂ of its probability. Fewer are better.${ofClass}` }),
  ];
}

/** @param {number} bits */
const written = (bits) => (Number.isNaN(bits) ? '–' : bits.toFixed(1));
