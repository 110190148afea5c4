/**
 * A comparison as the document of a shared file, which ui/share/comparison.js shows.
 */

/** @import { RunDocument } from '../../../decoding/run/run_document' */
/** @import { CompareForm, SharedComparison } from '../compare_contract' */
/** @import { Card, Results } from './results.js' */

import { summary } from '../cards/form.js';

/**
 * @param {CompareForm} offered @param {Card[]} cards in sight @param {Results} results
 * @param {string} continued the last words of the text that they continue
 * @param {Record<string, RunDocument>} runs those of the cards, by their names
 * @returns {SharedComparison}
 */
export function sharedComparison(offered, cards, results, continued, runs) {
  const complete = cards.filter((card) => card.run in runs);
  const settings = complete.map((card) => card.sent);
  return {
    continued,
    metrics: offered.metrics,
    cards: complete.map((card) => ({ ...summary(offered, card.sent, settings), result: { since: 0, ...results.of(card) }, run: runs[card.run] })),
  };
}
