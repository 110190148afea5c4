/**
 * The cards of a shared comparison beside each other, with what their marks mean; nothing in them can be changed.
 */

/** @import { SharedComparison } from '../compare_contract' */

import { make } from '../../kit/js/dom.js';
import { offerTokens } from '../../runs/answer.js';
import { makeCard, reveal } from './card.js';
import { makeLegend, rangesOf } from './metrics.js';

/**
 * @param {SharedComparison} comparison of a file, which anyone may have changed; throws an Error where it is damaged
 * @param {(card: number, index: number) => void} open called for a token of a card whose run the inspector does not have
 */
export function makeSharedCards({ continued, metrics, cards }, open) {
  const results = cards.map(({ result }, index) => ({ ...result, run: `card-${index + 1}` }));
  const ranges = rangesOf(results.map((result) => result.metrics));
  const views = cards.map(() => makeCard(metrics));
  const grid = make('div', { class: 'at-cards', 'data-count': cards.length }, ...views.map(({ node }) => node));

  /** @param {number} card */
  function draw(card) {
    const { name, others } = cards[card];
    views[card].show({ number: card + 1, words: { name, others }, prompt: continued, result: results[card], first: results[0], stale: '', ranges });
  }

  cards.forEach((_, card) => draw(card));
  offerTokens(grid, (answer, index) => open(results.findIndex(({ run }) => run === answer.run()), index), reveal);
  return {
    nodes: [grid, makeLegend(ranges)],
    /** The name by which a card knows its run. @param {number} card */
    nameOf: (card) => results[card].run,
    /** The inspector has a card's run under this name, or will have it once it comes. @param {number} card @param {string} run */
    name(card, run) {
      results[card] = { ...results[card], run };
      draw(card);
    },
  };
}
