/**
 * The beams panel: the tree of the last steps, and every text that the search followed in the selected one.
 */

const TAIL = 12; // tokens of a text's end; what there is no room for is cut off before them

const BEAM_COLUMNS = [
  ['Text'],
  ['Token', 'What the newest token added to the score'],
  ['Score', 'The sum over all tokens so far: log-probabilities after penalties, in nats'],
  ['Model’s', 'The same sum of the model’s own log-probabilities'],
  ['Final', 'Of a text that has ended: its score divided by its length to the power of the length penalty. By this '
    + 'number, and not by the score, ended texts are ranked.'],
  ['From', 'The rank, in the step before, of the text that this one goes on with'],
];
const FATES = 'A text is let go where its best continuation does not beat the last one that is kept';

/** @param {ReturnType<typeof makeSearch>} search @param {(token: number) => void} onPick a token to select */
function makeBeams(search, onPick) {
  const tree = makeTree(search, (step) => onPick(search.first + step));
  const body = make('tbody');
  const table = make('table', { class: 'at-grid at-beams' },
    make('caption', { class: 'at-hidden', text: 'The texts that the search followed here, best first' }),
    make('thead', {}, make('tr', {}, ...headCells(BEAM_COLUMNS),
      make('th', { scope: 'col', title: FATES, text: 'What became of it' }))), body);
  const node = part('Beams', tree.node, make('div', { class: 'at-beams-scroll', tabindex: 0, role: 'region',
    'aria-label': 'The texts of this step' }, table));

  /** @param {number} token the selected one; nothing is shown where no search chose it */
  function show(token) {
    const step = token - search.first;
    node.hidden = !search.length || step < 0 || step >= search.length;
    if (node.hidden) return;
    tree.show(step);
    body.replaceChildren(...search.order(step).map((place) => beamRow({ step, place })));
  }

  /** @param {Spot} spot */
  function beamRow(spot) {
    const [, added, sum, own, parent, final] = search.beam(spot);
    const texts = search.tokens(spot);
    const tail = (texts.length > TAIL ? '…' : '') + visibleText(texts.slice(-TAIL).join(''));
    const from = spot.step ? `#${search.order(spot.step - 1).indexOf(parent) + 1}` : '';
    const numbers = [nats(added), nats(sum), nats(own), final === null ? '' : nats(final), from];
    const cells = numbers.map((text) => make('td', { class: 'at-number', text }));
    const kind = [search.leads(spot) && 'at-won', !search.survives(spot) && 'at-removed'].filter(Boolean).join(' ');
    return make('tr', { class: kind },
      make('th', { scope: 'row', title: tail }, make('span', { class: 'at-chip', dir: 'auto', text: tail })),
      ...cells, make('td', { text: search.fate(spot) }));
  }

  return { node, show };
}
