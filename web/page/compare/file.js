/**
 * A comparison as a file, in the forms of `ui/compare/metrics.py`: as a table (CSV) or as a document (JSON).
 */

/** @import { RunDocument } from '../../../decoding/run/document' */
/** @typedef {{document: RunDocument | null, metrics: Record<string, number | null>}} WrittenCard */

import { firstDifference } from './metrics.js';

/**
 * What names the file, and its content.
 * @param {'csv' | 'json'} kind @param {string} text the prompt @param {boolean} common whether the cards share their random numbers
 * @param {WrittenCard[]} cards those that have not been stopped before their first token
 * @returns {[string[], string]}
 */
export function comparisonFile(kind, text, common, cards) {
  const [{ document: first }] = cards, { model, prompt } = first;
  const rows = cards.map(({ document, metrics }) => ({
    settings: document.settings, text: document.text, ...metrics, first_difference: firstDifference(document.ids, first.ids),
    finish_reason: document.finish_reason, trace: document,
  }));
  const content = kind === 'csv' ? table(rows.map(({ settings, trace: _, text: written, ...numbers }, index) => (
    { card: index + 1, model, prompt: text, ...settings, ...numbers, text: written })))
    : JSON.stringify({ schema: 'attend.compare/1', model, prompt: { text, ids: prompt.ids }, common_draws: common, cards: rows }, null, 1);
  return [[model, 'compare', text.slice(0, 60)], content];
}

/** @param {Record<string, any>[]} rows with the same columns */
function table(rows) {
  const lines = [Object.keys(rows[0]), ...rows.map((row) => Object.values(row).map(cellOf))];
  return lines.map((cells) => `${cells.map((cell) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`).join('');
}

/** A spreadsheet would run a text that looks like a formula, so it is escaped. @param {any} value */
function cellOf(value) {
  if (typeof value === 'string') return /^\s*[=+\-@]/.test(value) ? `'${value}` : value;
  return value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}
