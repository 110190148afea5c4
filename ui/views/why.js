/**
 * Why this token: the bar of all that could be drawn, where the draw fell, and what would have been taken without one.
 */

// The two filters that may remove the most probable token on purpose; all others leave it the first.
const AGAINST_THE_LIKELY = ['typical_p', 'xtc'];

/** @param {Step} step @returns {Node} */
function stepReason(step) {
  const shown = walked(step);
  return part('Why this token', make('p', { class: 'at-why' }, ...sentences(step, shown)),
    ...(step.weighed ? [] : [cumulativeBar(step, shown)]), ...stepContrast(step));
}

/**
 * The tokens in the order in which a draw walks over them, and where each one's share begins.
 * @param {Step} step @returns {{row: Row, from: number, to: number}[]}
 */
function walked(step) {
  // A token that is there only because it was chosen may have others, not shown, before it.
  const listed = (row) => last(row[3]) > 0 && (!row[2] || step.rank <= step.rows.length);
  let from = 0;
  return ranked(step.rows, step.stages.length - 1).filter(listed).map((row) => {
    const to = from + last(row[3]);
    const place = { row, from, to };
    from = to;
    return place;
  });
}

/** @param {Step} step @param {ReturnType<typeof walked>} shown @returns {(Node | string)[]} */
function sentences(step, shown) {
  const own = chosenRow(step);
  const rank = `rank ${counted.format(step.rank)} of ${counted.format(step.kept[0])}`;
  const gave = `The model gave it ${percent(own[3][0])}, ${rank}`;
  const first = ranked(step.rows, 0)[0];
  const likeliest = first === own ? ['; none was likelier.'] : ['; ', tokenChip(first[1]), ' was the likeliest.'];
  switch (step.way) {
    case 'given': return ['Given, not chosen. ', gave, ...likeliest];
    case 'taken': return ['Taken by hand. ', gave, ...likeliest];
    case 'search': return ['The search chose the text and not the token: of all continuations that it followed, the ',
      'one with this token scored best as a whole. ', gave, '.'];
    default: return step.draw === null ? taken(step, own, first) : drawn(step, own, shown);
  }
}

/** @param {Step} step @param {Row} own @param {Row} first the model's own first choice */
function taken(step, own, first) {
  if (step.weighed) {
    return ['Of these candidates ', tokenChip(own[1]), ' scored best: contrastive search wants a token that is ',
      'probable (confidence) and unlike what stands in the text already (degeneration).'];
  }
  if (own === first) return ['The most probable token was taken, without a draw.'];
  return ['The most probable token was taken, without a draw; before the settings moved the probabilities, ',
    tokenChip(first[1]), ' was the first.'];
}

/** @param {Step} step @param {Row} own @param {ReturnType<typeof walked>} shown */
function drawn(step, own, shown) {
  const place = shown.find(({ row }) => row === own);
  const fell = place ? `, from ${place.from.toFixed(4)} to ${place.to.toFixed(4)}` : ', behind those listed';
  const drawn = `${step.draw.toFixed(4)} was drawn, between 0 and 1: it fell into the share of `;
  return [drawn, tokenChip(own[1]), `${fell}. `, ...undrawn(step, own)];
}

/** What would have been taken without a draw. @param {Step} step @param {Row} own @returns {(Node | string)[]} */
function undrawn(step, own) {
  const turned = step.stages.findIndex((stage) => AGAINST_THE_LIKELY.includes(stage));
  const stage = turned < 0 ? step.stages.length - 1 : turned - 1;
  const [first] = ranked(step.rows, stage);
  const sure = first === ranked(step.rows, 0)[0] || first[3][stage] > step.rest[stage];
  if (!sure) return []; // after a penalty it may be a token that is not listed
  if (step.contrast) { // which greedy does not do
    return first === own ? ['It was the most probable after DoLa, too.']
      : ['The most probable after DoLa was ', tokenChip(first[1]), '.'];
  }
  if (first === own) return ['Greedy would have taken it, too.'];
  return ['Greedy would have taken ', tokenChip(first[1]), '.'];
}

/** @param {Step} step @param {ReturnType<typeof walked>} shown */
function cumulativeBar(step, shown) {
  const bar = make('div', { class: 'at-cumulative', 'aria-hidden': 'true' });
  for (const { row, from, to } of shown) {
    const title = `${visibleText(row[1])} · ${percent(to - from)}`;
    const segment = make('span', { class: row[2] ? 'at-won' : '', title });
    segment.style.flexGrow = String(to - from);
    if (to - from > 0.09) segment.append(...visible(row[1]));
    bar.append(segment);
  }
  const others = 1 - (last(shown)?.to ?? 0);
  if (others > 0.0005) {
    const segment = make('span', { class: 'at-others', title: `others · ${percent(others)}` });
    segment.style.flexGrow = String(others);
    if (others > 0.15) segment.textContent = 'others';
    bar.append(segment);
  }
  if (step.draw !== null && step.way === 'chosen') {
    const marker = make('i', { class: 'at-draw' });
    marker.style.left = `${100 * step.draw}%`;
    bar.append(marker);
  }
  return bar;
}
