/**
 * A comparison as a file, in the forms of `ui/compare/results/metrics.py`: a table (CSV), a text for a blog (Markdown), a document (JSON).
 */

/** @import { RunDocument } from '../../../decoding/run/run_document' */
/**
 * A card with its own settings as typed, its run and its numbers.
 * @typedef {{own: Record<string, any>, document: RunDocument | null, metrics: Record<string, number | null>}} WrittenCard
 */

import { csv, markdown } from '../../../ui/kit/js/data.js';
import { firstDifference } from './metrics.js';

/** What names it. @param {string} text the prompt @param {WrittenCard} first */
export const fileName = (text, { document }) => [document.model, 'compare', text];

/**
 * @param {'csv' | 'json' | 'md'} kind @param {string} text the prompt @param {boolean} common whether the cards share their random numbers
 * @param {WrittenCard[]} cards that have a text
 */
export function comparisonFile(kind, text, common, cards) {
  const [{ document: first }] = cards, { model, prompt } = first;
  if (kind === 'md') {
    const rows = cards.map(({ own, document, metrics }, index) => [index + 1, wordsOf(own), metrics.tokens, metrics.mean_log_probability ?? '',
      metrics.perplexity ?? '', metrics.mean_entropy ?? '', document.text]);
    const head = ['card', 'settings', 'tokens', 'log-probability', 'perplexity', 'entropy, bits', 'text'];
    return [{ title: '', head: ['model', 'prompt'], rows: [[model, text]] }, { title: '', head, rows }].map(markdown).join('\n');
  }
  const rows = cards.map(({ document, metrics }) => ({
    settings: document.settings, text: document.text, ...metrics, first_difference: firstDifference(document.ids, first.ids),
    finish_reason: document.finish_reason, trace: document,
  }));
  if (kind === 'json') return JSON.stringify({ schema: 'attend.compare/1', model, prompt: { text, ids: prompt.ids }, common_draws: common, cards: rows }, null, 1);
  const table = rows.map(({ settings, trace: _, ...numbers }, index) => ({ card: index + 1, model, prompt: text, ...settings, ...numbers }));
  return csv({ title: '', head: Object.keys(table[0]), rows: table.map((row) => Object.values(row).map(cellOf)) });
}

/** @param {Record<string, any>} own */
const wordsOf = (own) => Object.entries(own).map(([name, value]) => `${name} ${cellOf(value)}`).join(', ');

/** A spreadsheet would run a text that looks like a formula, so it is escaped. @param {any} value */
function cellOf(value) {
  if (typeof value === 'string') return /^\s*[=+\-@]/.test(value) ? `'${value}` : value;
  return value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : value;
}
