/**
 * The numbers behind the plots, as tables to read and as CSV to copy. They are made only while somebody looks.
 */

/** @typedef {{title: string, head: string[], rows: (string | number)[][]}} Sheet */

/** @param {Step} step @returns {Sheet} */
function candidateSheet(step) {
  const rows = step.rows.map(([id, text, isChosen, probabilities, removedBy]) => {
    const fate = removedBy ? `removed by ${stageName(removedBy)}` : '';
    return [id, JSON.stringify(text), ...probabilities, isChosen ? 'chosen' : fate];
  });
  const rest = [['tokens kept', step.kept], ['mass kept', step.mass], ['entropy, bits', step.entropy]];
  return {
    title: 'Probabilities', head: ['id', 'token', ...step.stages.map(stageName), 'what became of it'],
    rows: [...rows, ['', 'all others', ...step.rest, ''], ...rest.map(([name, numbers]) => ['', name, ...numbers, ''])],
  };
}

/** @param {ReturnType<typeof makeSearch>} search @returns {Sheet} */
function beamSheet(search) {
  const rows = Array.from({ length: search.length }, (_, step) => search.order(step).map((place, rank) => {
    const [token, added, sum, own, parent, final] = search.beam({ step, place });
    const from = step ? search.order(step - 1).indexOf(parent) + 1 : '';
    return [step + 1, rank + 1, JSON.stringify(token), added, sum, own, final ?? '', from, search.fate({ step, place })];
  }));
  return {
    title: 'Beams',
    head: ['step', 'rank', 'token', 'its score', 'score', 'log-probability', 'final score', 'from', 'what became of it'],
    rows: rows.flat(),
  };
}

/** @param {Float32Array} weights @param {(key: number) => string} textOf @returns {Sheet} */
function attentionSheet(weights, textOf) {
  return {
    title: 'Attention', head: ['token number', 'token', 'weight'],
    rows: Array.from(weights, (weight, key) => [key + 1, JSON.stringify(textOf(key)), Number(weight.toPrecision(3))]),
  };
}

/** @param {() => Sheet[]} sheets what to show now */
function makeData(sheets) {
  const body = make('div', { class: 'at-sheets' });
  const node = make('details', { class: 'at-data' }, make('summary', { text: 'Data' }), body);
  const draw = () => {
    if (node.open) body.replaceChildren(...sheets().map(sheetTable));
  };
  node.addEventListener('toggle', draw);
  return { node, draw };
}

/** @param {Sheet} sheet */
function sheetTable(sheet) {
  const button = make('button', { type: 'button', class: 'at-plain', text: 'Copy CSV' });
  button.addEventListener('click', () => copy(csv(sheet), button));
  const shown = (cell) => (typeof cell === 'number' ? signed(String(cell)) : cell);
  const cells = (row, tag) => row.map((cell) => make(tag, { text: shown(cell), scope: tag === 'th' ? 'col' : null }));
  return make('div', { class: 'at-sheet' },
    make('div', { class: 'at-sheet-head' }, make('h4', { text: sheet.title }), button),
    make('div', { class: 'at-sheet-scroll', tabindex: 0, role: 'region', 'aria-label': sheet.title },
      make('table', {},
        make('thead', {}, make('tr', {}, ...cells(sheet.head, 'th'))),
        make('tbody', {}, ...sheet.rows.map((row) => make('tr', {}, ...cells(row, 'td')))))));
}

/** Tokens are JSON strings in it, so none can begin like a spreadsheet's formula. @param {Sheet} sheet */
function csv(sheet) {
  const cell = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return [sheet.head, ...sheet.rows].map((row) => row.map(cell).join(',')).join('\n') + '\n';
}
