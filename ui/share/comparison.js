/**
 * A shared comparison: its cards as Compare shows them, and the inspector, which shows the run of the card whose token is clicked.
 */

/** @import { SharedComparison } from '../compare/compare_contract' */

import { offerHelp } from '../compare/cards/metrics.js';
import { makeSharedCards } from '../compare/cards/shared_cards.js';
import { inspectorValue } from '../inspector/document_value.js';
import { make } from '../kit/js/dom.js';
import { followColour } from '../kit/js/theme.js';
import { makeSettings } from './run_settings.js';
import { askedIn, makeFooter, makeHeader, makeInspector, showShared } from './shared_page.js';

/** @param {string} json see `showShared` */
export const show = (json) => showShared(json, draw);

/** @param {Element} root @param {SharedComparison} comparison */
function draw(root, comparison) {
  const { cards } = comparison;
  const inspector = makeInspector();
  const settings = make('div', { class: 'at-shared-head' });
  const shared = makeSharedCards(comparison, inspect);
  const compare = make('section', { class: 'attend-compare at-view at-shared-head', 'aria-label': 'Cards' }, ...shared.nodes);
  const without = cards.flatMap(({ run }, index) => (run.attention ? [] : [index + 1]));
  root.replaceChildren(makeHeader('A comparison, token by token', cards[0].run, askedIn(cards[0].run)), compare,
    ...(without.length ? [make('p', { class: 'at-note', text: `There was no room for the attention of these cards: ${without.join(', ')}.` })] : []),
    settings, inspector.node, makeFooter());
  followColour(compare);
  offerHelp(compare);
  inspect(0);

  /** Show the run of a card. @param {number} card @param {number} [index] the token to select; by default, the newest */
  function inspect(card, index) {
    const { run } = cards[card];
    const value = inspectorValue(run, shared.nameOf(card));
    settings.replaceChildren(makeSettings(run));
    inspector.show(index === undefined ? value : { ...value, selected: value.first + index });
  }
}
