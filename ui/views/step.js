/**
 * One step, as the table, the reason and the stages read it, and its headline.
 *
 * @typedef {[number, string, number, number[], string | null]} Row id, text, chosen, probability a stage, removed by
 * @typedef {{stages: string[], kept: number[], mass: number[], entropy: number[], rank: number, draw: number | null,
 *   way: 'chosen' | 'given' | 'taken' | 'search', rest: number[], rows: Row[], weighed?: Weighed,
 *   contrast?: Contrast}} Step
 */

const last = (list) => list[list.length - 1];

/** @param {Step} step */
const chosenRow = (step) => step.rows.find((row) => row[2]);

/** @param {Row[]} rows @param {number} stage @returns {Row[]} most probable first after that stage, ties by id */
const ranked = (rows, stage) => rows.slice().sort((a, b) => b[3][stage] - a[3][stage] || a[0] - b[0]);

/**
 * The headline: which token, how probable, how surprising.
 * @param {{text: string, place: string, step: Step | undefined, why: string}} about
 */
function stepHeadline({ text, place, step, why }) {
  const facts = step
    ? [percent(chosenRow(step)[3][0]), `rank ${counted.format(step.rank)} of ${counted.format(step.kept[0])}`,
       `entropy ${step.entropy[0].toFixed(1)} bits`]
    : [why];
  return [
    make('span', { class: 'at-place', text: place }),
    tokenChip(text),
    make('span', { class: 'at-facts', text: facts.join(' · ') }),
  ];
}

/** @param {[string, string?][]} heads a word over each column, and what it means; all but the first hold numbers */
const headCells = (heads) => heads.map(([text, title], place) =>
  make('th', { scope: 'col', class: place ? 'at-number' : '', title, text }));

/** A number over its bar. @param {string} text @param {number} share of the longest bar @param {string} kind */
function barCell(text, share, kind = 'at-after') {
  const cell = make('td', { class: `at-number at-share ${kind}`, text });
  cell.style.setProperty('--share', String(Math.min(1, Math.max(0, share))));
  return cell;
}

/** A titled part of the selected step. @param {string} title @param {...Node} children */
const part = (title, ...children) =>
  make('section', { class: 'at-part', 'aria-label': title }, make('h3', { text: title }), ...children);
