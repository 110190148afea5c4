/**
 * One step in words and as a table: what the token was chosen from, and why it won.
 *
 * @typedef {[number, string, number, number[], string | null]} Row id, text, chosen, probability a stage, removed by
 * @typedef {{stages: string[], kept: number[], rank: number, draw: number | null, entropy: number, rest: number[],
 *   rows: Row[]}} Step
 */

const last = (list) => list[list.length - 1];

/** @param {Step} step */
const chosenRow = (step) => step.rows.find((row) => row[2]);

/**
 * The headline: which token, how probable, how surprising.
 * @param {{text: string, place: string, step: Step | undefined, why: string}} about
 */
function stepHeadline({ text, place, step, why }) {
  const facts = step
    ? [percent(chosenRow(step)[3][0]), `rank ${counted.format(step.rank)} of ${counted.format(step.kept[0])}`,
       `entropy ${step.entropy.toFixed(1)} bits`]
    : [why];
  return [
    make('span', { class: 'at-place', text: place }),
    tokenChip(text),
    make('span', { class: 'at-facts', text: facts.join(' · ') }),
  ];
}

/** Why this token won. @param {Step} step @param {boolean} given whether it stood in the prompt */
function stepReason(step, given) {
  const chosen = chosenRow(step);
  const order = step.rows.slice().sort((a, b) => last(b[3]) - last(a[3]) || a[0] - b[0]);
  // A token that is there only because it was chosen may have others, not shown, before it.
  const shown = order.filter((row) => last(row[3]) > 0 && (row !== chosen || step.rank <= step.rows.length));
  const mass = shown.reduce((sum, row) => sum + last(row[3]), 0);
  const bar = make('div', { class: 'at-cumulative', 'aria-hidden': 'true' });
  let start = 0;
  let words = '';
  for (const row of shown) {
    const share = last(row[3]);
    const title = `${visibleText(row[1])} · ${percent(share)}`;
    const segment = make('span', { class: row === chosen ? 'at-won' : '', title });
    segment.style.flexGrow = String(share);
    if (share > 0.09) segment.append(...visible(row[1]));
    bar.append(segment);
    if (row === chosen) words = `in its share from ${start.toFixed(4)} to ${(start + share).toFixed(4)}`;
    start += share;
  }
  if (mass < 0.9995) {
    const others = make('span', { class: 'at-others', title: `others · ${percent(1 - mass)}` });
    others.style.flexGrow = String(1 - mass);
    if (1 - mass > 0.15) others.textContent = 'others';
    bar.append(others);
  }
  if (step.draw !== null && !given) {
    const marker = make('i', { class: 'at-draw' });
    marker.style.left = `${100 * step.draw}%`;
    bar.append(marker);
  }
  return [make('p', { class: 'at-why' }, reasonText(step, given, words), ...filterChain(step)), bar];
}

/** @param {Step} step @param {boolean} given @param {string} share where the chosen token's share lies */
function reasonText(step, given, share) {
  if (given) return 'Given, not chosen: this is what the model expected here.';
  if (step.draw !== null) return `Drawn: ${step.draw.toFixed(4)}, ${share || 'among the others'}.`;
  if (step.rank === 1) return 'The most probable token was taken.';
  return `Taken without a draw, at rank ${counted.format(step.rank)}.`;
}

/** How many tokens each filter left; those that removed nothing are not worth a word. @param {Step} step */
function filterChain(step) {
  const cuts = step.stages.flatMap((stage, i) =>
    i && step.kept[i] < step.kept[i - 1] ? [`${stageName(stage)} left ${counted.format(step.kept[i])}`] : []);
  return cuts.length ? [make('span', { class: 'at-chain', text: cuts.join(', ') })] : [];
}

/**
 * The candidates, and a last row for all other tokens.
 * @param {Step} step
 * @param {((id: number) => void) | null} take where another token may be taken instead
 */
function stepTable(step, take) {
  const filtered = step.stages.length > 1;
  const largest = Math.max(...step.rows.flatMap((row) => [row[3][0], last(row[3])]));
  const head = ['Token', 'Model', ...(filtered ? ['Final'] : [])];
  const header = make('tr', {}, ...head.map((text, i) => make('th', { scope: 'col', class: i ? 'at-number' : '', text })),
    make('th', { scope: 'col', class: 'at-bar-cell' }, make('span', { class: 'at-hidden', text: 'Bar' })));
  const rows = step.rows.map((row) => candidateRow(row, filtered, largest, take));
  return make('table', { class: 'at-table' },
    make('caption', { class: 'at-hidden', text: 'What could have stood here' }),
    make('thead', {}, header), make('tbody', {}, ...rows, restRow(step, filtered, largest)));
}

/** @param {Row} row @param {boolean} filtered @param {number} largest @param {((id: number) => void) | null} take */
function candidateRow(row, filtered, largest, take) {
  const [id, text, chosen, probabilities, removedBy] = row;
  const name = make('th', { scope: 'row' }, tokenChip(text));
  const node = make('tr', { class: [chosen && 'at-won', removedBy && 'at-removed'].filter(Boolean).join(' ') }, name,
    make('td', { class: 'at-number', text: percent(probabilities[0]) }));
  if (chosen) name.append(make('span', { class: 'at-hidden', text: ' (chosen)' }));
  if (filtered) {
    node.append(removedBy
      ? make('td', { class: 'at-number at-by', title: `removed by ${stageName(removedBy)}` },
          make('span', { class: 'at-hidden', text: 'removed by ' }), stageName(removedBy))
      : make('td', { class: 'at-number', text: percent(last(probabilities)) }));
  }
  node.append(barCell(probabilities[0], last(probabilities), largest));
  if (take && !chosen) {
    const button = make('button', { type: 'button', class: 'at-take', 'aria-label': `take ${visibleText(text)} instead` },
      make('span', { text: 'take' }));
    name.append(button);
    node.classList.add('at-takeable');
    node.addEventListener('click', () => take(id));
  }
  return node;
}

/** @param {Step} step @param {boolean} filtered @param {number} largest */
function restRow(step, filtered, largest) {
  const others = step.kept[0] - step.rows.length;
  const left = last(step.kept) - step.rows.filter((row) => !row[4]).length;
  const kept = filtered && left > 0 && left < others ? `, ${counted.format(left)} left` : '';
  const node = make('tr', { class: 'at-rest' },
    make('th', { scope: 'row', text: `${counted.format(others)} others${kept}` }),
    make('td', { class: 'at-number', text: percent(step.rest[0]) }));
  if (filtered) node.append(make('td', { class: 'at-number', text: percent(last(step.rest)) }));
  node.append(barCell(step.rest[0], last(step.rest), largest));
  return node;
}

/** The model's probability as an outline, the final one filled. */
function barCell(model, final, largest) {
  const before = make('i', { class: 'at-before' });
  const after = make('i', { class: 'at-after' });
  before.style.width = `${Math.min(100, (100 * model) / largest)}%`;
  after.style.width = `${Math.min(100, (100 * final) / largest)}%`;
  return make('td', { class: 'at-bar-cell', 'aria-hidden': 'true' }, make('span', { class: 'at-bar' }, after, before));
}
