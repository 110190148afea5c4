/**
 * The progress of a comparison: a bar while it runs, and a status line.
 */

/** @import { Result } from '../cards/card.js' */

import { make, setText } from '../../kit/js/dom.js';
import { counted } from '../../kit/js/text.js';
import { isExample } from '../../examples/example.js';

/** @param {Node} note stands beside them */
export function makeProgress(note) {
  const bar = make('progress', { class: 'at-progress', 'aria-label': 'Progress of the comparison', hidden: true });
  const status = make('p', { class: 'at-sm at-quiet at-compare-status', role: 'status' });
  const node = make('div', { class: 'at-row at-wrap at-gap-sm at-md at-ask-row at-compare-progress' }, bar, status, note);

  /** @param {Result[]} started @param {{busy: boolean, stale: string}} now `stale` says what has changed since a text was written */
  function draw(started, { busy, stale }) {
    const tokens = started.reduce((sum, result) => sum + result.tokens.length, 0);
    const writing = started.filter((result) => result.state === 'streaming').length;
    bar.hidden = !busy;
    // a card that has ended counts in full, since it will not grow
    const lengths = started.map((result) => (result.state === 'streaming' ? result.length : result.tokens.length));
    bar.max = Math.max(1, lengths.reduce((sum, length) => sum + length, 0));
    bar.value = writing ? tokens : 0;
    setText(status, statusText());

    function statusText() {
      if (busy) return writing ? `Writing ${writing} of ${started.length} cards …` : 'Waiting for the first token …';
      if (started.length && stale) return `${stale}, run again.`;
      if (started.every(({ run }) => isExample(run))) return 'Each card has its own settings. Compare runs them together.';
      const ending = started.some(({ state }) => state === 'stopped') ? 'Stopped' : 'Done';
      return `${ending}: ${counted.format(tokens)} tokens in ${started.length} card${started.length === 1 ? '' : 's'}.`;
    }
  }

  return { node, draw };
}
