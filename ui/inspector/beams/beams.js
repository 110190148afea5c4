/**
 * The beams panel: the tree of the last steps, and every text that the search followed in the selected one.
 */

/** @import { BeamIndex } from '../../../decoding/run/run_document' */
/** @import { Search } from './search.js' */

import { make, makeTable } from '../../kit/js/dom.js';
import { visibleText } from '../../kit/js/text.js';
import { headCells, part } from '../step.js';
import { nats } from './search.js';
import { makeTree } from './tree.js';

const TAIL = 12; // tokens of a text that are listed, its last ones

/** @type {import('../step.js').ColumnHead[]} */
const BEAM_COLUMNS = [
  { text: 'Text' },
  { text: 'Token', help: 'What the newest token added to the score', term: 'token' },
  {
    text: 'Score', term: 'log-probability',
    help: 'The sum of the log-probabilities of all tokens so far, after penalties, in nats (natural logarithm)',
  },
  { text: 'Model', help: 'The same sum for the model’s own probabilities, before any filter' },
  {
    text: 'Final', term: 'length-penalty',
    help: 'For a finished text: its score divided by its length to the power of the length penalty. Finished texts are ranked '
      + 'by this number.',
  },
  { text: 'From', help: 'The rank, one step earlier, of the text that this one continues' },
];
const DROP_HELP = 'A text is dropped when none of its continuations is good enough to be kept';

/** @param {Search} search @param {(token: number) => void} onPick a token to select */
export function makeBeams(search, onPick) {
  const tree = makeTree(search, (step) => onPick(search.first + step));
  const head = [...headCells(BEAM_COLUMNS), make('th', { scope: 'col', class: 'at-explained', title: DROP_HELP, text: 'Outcome' })];
  const table = makeTable(
    { class: 'at-grid at-beams' }, head, [], 'The texts that beam search followed at this step, best first');
  const node = part('Beams', tree.node, make('div', { class: 'at-scroll at-beams-scroll', tabindex: 0, role: 'region',
    'aria-label': 'Texts at this step' }, table));

  /** @param {number} token the selected one; nothing is shown where no search chose it */
  function show(token) {
    const step = token - search.first;
    node.hidden = !search.length || step < 0 || step >= search.length;
    if (node.hidden) return;
    tree.show(step);
    table.tBodies[0].replaceChildren(...search.order(step).map((index) => beamRow({ step, index })));
  }

  /** @param {BeamIndex} spot */
  function beamRow(spot) {
    const beam = search.beam(spot);
    const texts = search.tokens(spot);
    const tail = (texts.length > TAIL ? '…' : '') + visibleText(texts.slice(-TAIL).join(''));
    const from = spot.step ? `#${search.order(spot.step - 1).indexOf(beam.parent) + 1}` : '';
    const final = beam.final_score === null ? '' : nats(beam.final_score);
    const numbers = [nats(beam.step_score), nats(beam.score), nats(beam.log_probability), final, from];
    const cells = numbers.map((text) => make('td', { class: 'at-number', text }));
    const kind = [search.leads(spot) && 'at-won', !search.survives(spot) && 'at-removed'].filter(Boolean).join(' ');
    return make('tr', { class: kind },
      make('th', { scope: 'row', title: tail }, make('span', { class: 'at-chip', dir: 'auto', text: tail })),
      ...cells, make('td', { text: search.fate(spot) }));
  }

  return { node, show };
}
