/**
 * Details of two strategies: the candidates of contrastive search, and the layers that DoLa contrasts.
 */

/** @import { ContrastEntry } from '../../decoding/run/run_document' */
/** @import { Step } from './step.js' */
/** @import { Sheet } from '../kit/js/data.js' */

import { termLink } from '../glossary/term_link.js';
import { make, makeTable } from '../kit/js/dom.js';
import { percent, signed, tokenChip, visibleText } from '../kit/js/text.js';
import { barCell, headCells } from './step.js';

/** @param {Step} step @returns {Node[]} empty for all other strategies */
export function stepContrast(step) {
  if (step.contrastive) return [contrastiveTable(step)];
  return step.contrast ? [contrastWords(step.contrast), contrastTable(step.contrast)] : [];
}

/** @param {Step} step */
function contrastiveTable({ id: chosen, contrastive, nameOf }) {
  const rows = contrastive.map(({ id, confidence, degeneration, score }) => make('tr', { class: id === chosen ? 'at-won' : '' },
    make('th', { scope: 'row', title: visibleText(nameOf(id)) }, tokenChip(nameOf(id))),
    barCell(percent(confidence), confidence), barCell(signed(degeneration.toFixed(3)), degeneration),
    make('td', { class: 'at-number', text: signed(score.toFixed(3)) })));
  const [head, name] = [headCells(['Token', 'Confidence', 'Degeneration', 'Score'].map((text) => ({ text }))), 'Candidates of contrastive search'];
  return make('div', { class: 'at-scroll at-contrastive-scroll', tabindex: 0, role: 'region', 'aria-label': name },
    makeTable({ class: 'at-grid at-contrastive' }, head, rows, name));
}

/** @param {ContrastEntry} contrast */
function contrastWords({ layer, divergences }) {
  const { bits } = divergences.find((divergence) => divergence.layer === layer);
  const why = divergences.length > 1
    ? `of the layers compared, it differs most from the last one, by ${bits.toFixed(3)} bits`
    : `it differs from the last layer by ${bits.toFixed(3)} bits`;
  return make('p', { class: 'at-md at-quiet at-why' }, termLink('dola', 'DoLa'), ` subtracted the prediction of ${layerName(layer)}: ${why}.`);
}

/** @param {ContrastEntry} contrast */
function contrastTable({ layer, divergences }) {
  const most = Math.max(...divergences.map(({ bits }) => bits)) || 1;
  const rows = divergences.map(({ layer: one, bits }) => make('tr', { class: one === layer ? 'at-won' : '' },
    make('th', { scope: 'row', text: layerName(one) }), barCell(`${bits.toFixed(3)} bits`, bits / most)));
  return makeTable({ class: 'at-grid at-contrast' }, headCells([{ text: 'Layer' }, { text: 'Difference from the last' }]), rows,
    'How much each layer’s prediction differs from the last layer’s');
}

/** @param {number} layer */
const layerName = (layer) => (layer ? `layer ${layer}` : 'the embeddings');

/** @param {Step} step @returns {Sheet[]} the same as data */
export function contrastSheets(step) {
  if (step.contrastive) {
    const rows = step.contrastive.map(({ id, confidence, degeneration, score }) =>
      [JSON.stringify(step.nameOf(id)), confidence, degeneration, score, id === step.id ? 1 : 0]);
    return [{ title: 'Contrastive search', head: ['token', 'confidence', 'degeneration', 'score', 'chosen'], rows }];
  }
  if (!step.contrast) return [];
  return [{ title: 'Layers', head: ['layer', 'difference from the last layer, bits'], rows: step.contrast.divergences.map(({ layer, bits }) => [layer, bits]) }];
}
