/**
 * A shared comparison: its cards as Compare shows them, and the inspector, which shows the run of the card whose token is clicked.
 */

/** @import { SharedComparison } from '../compare/compare_contract' */

import { makeCard, reveal } from '../compare/cards/card.js';
import { makeLegend, offerHelp, rangesOf } from '../compare/cards/metrics.js';
import { make } from '../kit/js/dom.js';
import { followColour } from '../kit/js/theme.js';
import { offerTokens } from '../runs/answer.js';
import { inspectorValue } from './inspector_value.js';
import { askedIn, makeFooter, makeHeader, makeInspector, showShared } from './page.js';
import { makeSettings } from './settings.js';

/** @param {string} json see `showShared` */
export const show = (json) => showShared(json, draw);

/** @param {Element} root @param {SharedComparison} comparison */
function draw(root, { continued, metrics, cards }) {
  const inspector = makeInspector();
  const settings = make('div', { class: 'at-shared-head' });
  const results = cards.map(({ result }, index) => ({ ...result, run: `card-${index + 1}` }));
  const ranges = rangesOf(results.map((result) => result.metrics));
  const views = cards.map(({ name, others }, index) => {
    const view = makeCard(metrics);
    view.show({ number: index + 1, words: { name, others }, prompt: continued, result: results[index], first: results[0], stale: '', ranges });
    return view.node;
  });
  const compare = make('section', { class: 'attend-compare at-view at-shared-head', 'aria-label': 'Cards' },
    make('div', { class: 'at-cards', 'data-count': cards.length }, ...views), makeLegend(ranges));
  const without = cards.flatMap(({ run }, index) => (run.attention ? [] : [index + 1]));
  root.replaceChildren(makeHeader('A comparison, token by token', cards[0].run, askedIn(cards[0].run)), compare,
    ...(without.length ? [make('p', { class: 'at-note', text: `There was no room for the attention of these cards: ${without.join(', ')}.` })] : []),
    settings, inspector.node, makeFooter());
  followColour(compare);
  offerHelp(compare);
  offerTokens(compare, (answer, index) => inspect(results.findIndex(({ run }) => run === answer.run()), index), reveal);
  inspect(0);

  /** Show the run of a card. @param {number} number @param {number} [index] the token to select; by default, the newest */
  function inspect(number, index) {
    const { run } = cards[number];
    const value = inspectorValue(run, results[number].run);
    settings.replaceChildren(makeSettings(run));
    inspector.show(index === undefined ? value : { ...value, selected: value.first + index });
  }
}
