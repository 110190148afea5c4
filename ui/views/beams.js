/**
 * The beams panel: the tree of the last steps, and every text that the search followed in the selected one.
 */

const TAIL = 5; // tokens of a text's end

/** @param {ReturnType<typeof makeSearch>} search @param {(token: number) => void} onPick a token to select */
function makeBeams(search, onPick) {
  const tree = makeTree(search, (step) => onPick(search.first + step));
  const body = make('tbody');
  const table = make('table', { class: 'at-grid at-beams' },
    make('caption', { class: 'at-hidden', text: 'The texts that the search followed here, best first' }),
    make('thead', {}, make('tr', {}, ...headCells(['Text', 'Token', 'Score', 'Model’s', 'From']),
      make('th', { scope: 'col', text: 'What became of it' }))), body);
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
    const [, added, sum, own, parent] = search.beam(spot);
    const texts = search.tokens(spot);
    const tail = (texts.length > TAIL ? '…' : '') + visibleText(texts.slice(-TAIL).join(''));
    const from = spot.step ? `#${search.order(spot.step - 1).indexOf(parent) + 1}` : '';
    const cells = [nats(added), nats(sum), nats(own), from].map((text) => make('td', { class: 'at-number', text }));
    const kind = [search.leads(spot) && 'at-won', !search.survives(spot) && 'at-removed'].filter(Boolean).join(' ');
    return make('tr', { class: kind },
      make('th', { scope: 'row', title: tail }, make('span', { class: 'at-chip', dir: 'auto', text: tail })),
      ...cells, make('td', { text: search.fate(spot) }));
  }

  return { node, show };
}
