/**
 * The metrics of one card, each with its position between the lowest and the highest of all cards, and the hint that
 * explains any element with `data-help`.
 *
 * @typedef {{low: number, high: number} | null} Range null where the cards do not differ
 */

/** @import { MetricField } from '../compare_contract' */

import { termLink } from '../../glossary/term_link.js';
import { around, make } from '../../kit/js/dom.js';
import { percent, signed } from '../../kit/js/text.js';

/** @param {MetricField[]} texts */
export function makeMetrics(texts) {
  const rows = texts.map(({ label, help, term }) => {
    const value = make('span', { class: 'at-number at-metric-value' });
    const fill = make('i', { 'aria-hidden': 'true' });
    const mark = make('span', { class: 'at-metric-mark' });
    const name = term ? termLink(/** @type {import('../../glossary/terms.js').Term} */ (term), label) : make('button', { type: 'button', text: label });
    name.classList.add('at-metric-name', 'at-explained', 'at-ellipsis', 'at-quiet');
    name.dataset.help = help;
    const node = make('div', { class: 'at-metric', role: 'listitem' }, name,
      make('span', { class: 'at-metric-track' }, fill), value, mark);
    return { node, value, fill, mark };
  });
  const node = make('div', { class: 'at-ruled at-sm at-metrics', role: 'list', 'aria-label': 'Metrics' },
    ...rows.map((row) => row.node));

  /** @type {string[]} by row, what it was drawn from */
  const drawnKeys = [];

  /** @param {(number | null)[]} numbers @param {Range[]} ranges those of all cards */
  function show(numbers, ranges) {
    rows.forEach(({ value, fill, mark, node: row }, i) => {
      const number = numbers[i];
      const text = number === null ? '–' : numberText(number, texts[i]);
      const [lowest, highest] = ranges[i] ? [ranges[i].low, ranges[i].high].map((end) => numberText(end, texts[i])) : [];
      const range = number === null || lowest === highest ? null : ranges[i]; // no marks if both ends read the same
      const position = range ? Math.round((100 * (number - range.low)) / (range.high - range.low)) : null;
      const extreme = range && (text === highest ? 'highest' : text === lowest ? 'lowest' : null);
      const key = `${text} ${position} ${extreme}`;
      if (key === drawnKeys[i]) return; // while texts grow, most numbers stay as they are
      drawnKeys[i] = key;
      value.textContent = text;
      fill.hidden = !range;
      if (range) fill.style.insetInlineStart = `${position}%`;
      row.dataset.extreme = extreme || '';
      mark.textContent = { highest: '▲', lowest: '▼' }[extreme] || '';
      mark.title = extreme || '';
      if (extreme) mark.setAttribute('aria-label', extreme);
      else mark.removeAttribute('aria-label');
    });
  }

  return { node, show };
}

/** @param {number} number @param {MetricField} text */
function numberText(number, { unit, digits }) {
  if (unit === '%') return percent(number, digits);
  if (number >= 1e5) return number.toExponential(1);
  return signed(number.toFixed(number < 1000 ? digits : 0));
}

/** The lowest and the highest value of each metric, where the cards differ. @param {(number | null)[][]} cards @returns {Range[]} */
export function rangesOf(cards) {
  return (cards[0] || []).map((_, i) => {
    const numbers = cards.map((card) => card[i]).filter((number) => number !== null);
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    return low < high ? { low, high } : null;
  });
}

/** What the marks beside the numbers mean. @param {Range[]} ranges */
export const makeLegend = (ranges) =>
  make('p', { class: 'at-sm at-quiet at-metric-legend', text: '▲ highest of all cards · ▼ lowest', hidden: !ranges.some(Boolean) });

/** Explain what is inside when it has the pointer or the focus; Escape hides the hint. @param {HTMLElement} container */
export function offerHelp(container) {
  const tip = make('div', { class: 'at-tip', role: 'tooltip', id: 'at-tip', hidden: true });
  let owner = null;

  /** @param {HTMLElement | null} element that is explained; null hides the hint */
  function show(element) {
    if (owner === element) return;
    owner?.removeAttribute('aria-describedby');
    owner = element;
    tip.hidden = !owner;
    if (!owner) return;
    tip.textContent = owner.dataset.help;
    owner.setAttribute('aria-describedby', tip.id);
    const box = owner.getBoundingClientRect();
    const frame = container.getBoundingClientRect();
    const right = frame.width - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(box.left - frame.left, right))}px`;
    const above = box.top - tip.offsetHeight - 6;
    tip.style.top = `${(above > 0 ? above : box.bottom + 6) - frame.top}px`;
  }

  const helpedBy = (event) => around(event, '[data-help]');
  container.append(tip);
  container.addEventListener('pointerover', (event) => show(helpedBy(event)));
  container.addEventListener('pointerleave', () => show(null));
  container.addEventListener('focusin', (event) => show(around(event, ':focus-visible') === event.target ? helpedBy(event) : null));
  container.addEventListener('focusout', () => show(null));
  container.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') show(null);
  });
}
