/**
 * The progress of a comparison: a bar while it runs, and a status line.
 */

/** @import { Result } from './card.js' */

import { make } from '../kit/js/dom.js';
import { counted } from '../kit/js/text.js';
import { isExample } from '../examples/example.js';

/** @param {Node} note stands beside them */
export function makeProgress(note) {
  const bar = make('progress', { class: 'at-progress', 'aria-label': 'Progress of the comparison', hidden: true });
  const status = make('p', { class: 'at-sm at-quiet at-compare-status', role: 'status' });
  const node = make('div', { class: 'at-row at-wrap at-gap-sm at-md at-ask-row at-compare-progress' }, bar, status, note);

  /** @param {Result[]} started @param {{busy: boolean, stale: string}} now `stale`: what has changed since a text was written */
  function draw(started, { busy, stale }) {
    const tokens = started.reduce((sum, result) => sum + result.tokens.length, 0);
    const writing = started.filter((result) => result.state === 'streaming').length;
    bar.hidden = !busy;
    // what has ended counts as whole: it will not grow
    const lengths = started.map((result) => (result.state === 'streaming' ? result.length : result.tokens.length));
    bar.max = Math.max(1, lengths.reduce((sum, length) => sum + length, 0));
    bar.value = writing ? tokens : 0;
    const stopped = started.some((result) => result.state === 'stopped');
    const line = busy ? (writing ? `Writing ${writing} of ${started.length} cards …` : 'Waiting for the first token …')
      : started.length && stale ? `${stale}, run again.`
      : started.some(({ run }) => !isExample(run)) ? `${stopped ? 'Stopped' : 'Done'}: ${counted.format(tokens)} tokens in ${started.length} cards.`
        : 'Each card has its own settings. Compare runs them together.';
    if (status.textContent !== line) status.textContent = line;
  }
  return { node, draw };
}
