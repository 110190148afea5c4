/**
 * The beams of a search as a tree: one column per step, the best on top, survivors in bold and dropped hypotheses in grey.
 */

/** @import { BeamIndex } from '../../../decoding/run/run_document' */
/** @import { Search } from './search.js' */

import { around, make, makeSvg } from '../../kit/js/dom.js';
import { fitting, visibleText } from '../../kit/js/text.js';
import { addCellCursor } from '../../kit/js/keys.js';
import { nats } from './search.js';

const NODE = { width: 84, height: 22, across: 106, down: 28, letters: 9 };

/**
 * @param {Search} search
 * @param {(step: number) => void} onPick called when a node is clicked or entered
 */
export function makeTree(search, onPick) {
  const svg = makeSvg('svg', {
    class: 'at-tree', tabindex: 0, role: 'img',
    'aria-label': 'Tree of the beams; use the arrow keys to move, Enter to show a step',
  });
  const readout = make('p', { class: 'at-sm at-quiet at-tree-readout', 'aria-live': 'polite' });
  const node = make('div', {}, svg, readout);
  let width = 0;
  let range = { from: 0, end: 0, selected: 0 }; // the steps that are drawn, and the selected one
  /** @type {BeamIndex | null} */
  let cursor = null;
  /** @type {Map<string, SVGElement>} */
  let nodes = new Map();

  /** @param {number} step the selected one */
  function show(step) {
    const columns = Math.max(2, Math.floor(((width || node.clientWidth) + NODE.across - NODE.width) / NODE.across));
    const end = Math.min(search.length, Math.max(step + 2, columns));
    range = { from: Math.max(0, end - columns), end, selected: step };
    nodes = new Map();
    const edges = [];
    let most = 1;
    for (let column = range.from; column < range.end; column += 1) {
      search.order(column).forEach((index, rank) => {
        const spot = { step: column, index };
        nodes.set(`${column}/${index}`, nodeOf(spot, rank));
        if (column > range.from) edges.push(edgeTo(spot, rank));
        most = Math.max(most, rank + 1);
      });
    }
    // the leading path is drawn last, so that no other line crosses it
    edges.sort((a, b) => Number(a.classList.contains('at-leads')) - Number(b.classList.contains('at-leads')));
    const [wide, high] = [(range.end - range.from) * NODE.across - NODE.across + NODE.width, most * NODE.down - 4];
    svg.setAttribute('viewBox', `-2 -2 ${wide + 4} ${high + 4}`); // room for the thick lines
    svg.setAttribute('width', String(wide + 4));
    svg.setAttribute('height', String(high + 4));
    svg.replaceChildren(...edges, ...nodes.values());
    point(cursor);
  }

  /** The left edge and the middle of a node, in pixels. @param {number} step @param {number} rank @returns {[number, number]} */
  const positionOf = (step, rank) => [(step - range.from) * NODE.across, rank * NODE.down + NODE.height / 2];

  /** @param {BeamIndex} spot @param {number} rank */
  function nodeOf(spot, rank) {
    const [x, y] = positionOf(spot.step, rank);
    const text = makeSvg('text', { x: x + NODE.width / 2, y, 'text-anchor': 'middle', 'dominant-baseline': 'central' });
    text.textContent = fitting(visibleText(search.beam(spot).text), (part) => [...part].length <= NODE.letters);
    const group = makeSvg('g', { class: `at-node ${kind(spot)}`, 'data-step': spot.step, 'data-index': spot.index },
      makeSvg('rect', { x, y: y - NODE.height / 2, width: NODE.width, height: NODE.height, rx: 5 }), text);
    if (spot.step === range.selected) group.classList.add('at-here');
    return group;
  }

  /** @param {BeamIndex} spot @param {number} rank */
  function edgeTo(spot, rank) {
    const { parent } = search.beam(spot);
    const [x, y] = positionOf(spot.step, rank);
    const [left, from] = positionOf(spot.step - 1, search.order(spot.step - 1).indexOf(parent));
    const start = left + NODE.width;
    const half = (start + x) / 2;
    const curve = `M${start} ${from}C${half} ${from} ${half} ${y} ${x} ${y}`;
    return makeSvg('path', { class: `at-edge ${kind(spot)}`, d: curve });
  }

  /** @param {BeamIndex} spot */
  function kind(spot) {
    if (search.leads(spot)) return 'at-leads';
    return search.survives(spot) ? 'at-survives' : 'at-dropped-beam';
  }

  /** @param {BeamIndex | null} spot */
  function point(spot) {
    nodes.get(`${cursor?.step}/${cursor?.index}`)?.classList.remove('at-pointed');
    const group = spot && nodes.get(`${spot.step}/${spot.index}`);
    cursor = group ? spot : null;
    group?.classList.add('at-pointed');
    readout.textContent = cursor ? describe(cursor) : 'One column per step, best on top; bold paths are still being followed.';
  }

  /** @param {BeamIndex} spot */
  function describe(spot) {
    const { text, step_score: added, score, final_score: final } = search.beam(spot);
    const ranked = final === null ? '' : `, final score ${nats(final)}`;
    return `${visibleText(text)} added ${nats(added)}, total ${nats(score)}${ranked}: ${search.fate(spot)}`;
  }

  addCellCursor(svg, {
    cellAt(event) {
      const group = around(event, '.at-node');
      return group && { step: Number(group.dataset.step), index: Number(group.dataset.index) };
    },
    current: () => cursor ?? { step: range.selected, index: search.order(range.selected)[0] },
    beside(spot, right, down) {
      const step = Math.min(range.end - 1, Math.max(range.from, spot.step + right));
      const rank = search.order(spot.step).indexOf(spot.index) + down;
      const order = search.order(step);
      return { step, index: order[Math.min(order.length - 1, Math.max(0, rank))] };
    },
    point,
    pick: ({ step }) => onPick(step),
  });
  new ResizeObserver(() => {
    if (node.clientWidth === width) return;
    width = node.clientWidth;
    if (search.length && width) show(Math.min(range.selected, search.length - 1));
  }).observe(node);

  return { node, show };
}
