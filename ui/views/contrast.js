/**
 * What two strategies weigh besides probabilities: contrastive search its candidates, DoLa the layers of the model.
 *
 * @typedef {[string, number, number, number, number][]} Weighed token, confidence, degeneration, score, 1 if taken
 * @typedef {{layer: number, divergences: [number, number][]}} Contrast a layer's distance from the last, in bits
 */

/** @param {Step} step @returns {Node[]} nothing under the other strategies */
function stepContrast(step) {
  if (step.weighed) return [weighedTable(step.weighed)];
  return step.contrast ? [contrastWords(step.contrast), contrastTable(step.contrast)] : [];
}

/** @param {Weighed} weighed */
function weighedTable(weighed) {
  const rows = weighed.map(([text, confidence, degeneration, score, won]) => make('tr', { class: won ? 'at-won' : '' },
    make('th', { scope: 'row', title: visibleText(text) }, tokenChip(text)),
    barCell(percent(confidence), confidence), barCell(signed(degeneration.toFixed(3)), degeneration),
    make('td', { class: 'at-number', text: signed(score.toFixed(3)) })));
  const table = make('table', { class: 'at-grid at-weighed' },
    make('caption', { class: 'at-hidden', text: 'What contrastive search weighed' }),
    make('thead', {}, make('tr', {}, ...headCells([['Token'], ['Confidence'], ['Degeneration'], ['Score']]))),
    make('tbody', {}, ...rows));
  return make('div', { class: 'at-weighed-scroll', tabindex: 0, role: 'region', 'aria-label': 'Candidates' }, table);
}

/** @param {Contrast} contrast */
function contrastWords({ layer, divergences }) {
  const [, bits] = divergences.find(([one]) => one === layer);
  const why = divergences.length > 1
    ? `of those looked at, its distribution is the farthest from the last layer's, by ${bits.toFixed(3)} bits`
    : `its distribution is ${bits.toFixed(3)} bits from the last layer's`;
  return make('p', { class: 'at-why', text: `What ${layerName(layer)} would have said was taken off: ${why}.` });
}

/** @param {Contrast} contrast */
function contrastTable({ layer, divergences }) {
  const most = Math.max(...divergences.map(([, bits]) => bits)) || 1;
  const rows = divergences.map(([one, bits]) => make('tr', { class: one === layer ? 'at-won' : '' },
    make('th', { scope: 'row', text: layerName(one) }), barCell(`${bits.toFixed(3)} bits`, bits / most)));
  return make('table', { class: 'at-grid at-contrast' },
    make('caption', { class: 'at-hidden', text: 'How far each layer is from the last' }),
    make('thead', {}, make('tr', {}, ...headCells([['Layer'], ['From the last']]))), make('tbody', {}, ...rows));
}

/** @param {number} layer */
const layerName = (layer) => (layer ? `layer ${layer}` : 'the embeddings');

/** @param {Step} step @returns {Sheet[]} the same as data */
function contrastSheets(step) {
  if (step.weighed) {
    const rows = step.weighed.map(([text, ...numbers]) => [JSON.stringify(text), ...numbers]);
    return [{ title: 'Contrastive search', head: ['token', 'confidence', 'degeneration', 'score', 'taken'], rows }];
  }
  if (!step.contrast) return [];
  return [{ title: 'Layers', head: ['layer', 'bits from the last layer'], rows: step.contrast.divergences }];
}
