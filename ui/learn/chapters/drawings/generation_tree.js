/**
 * A tree of words that can be changed, and their probabilities as well.
 *
 * It stands in a grid of one row for every whole text: words are centred beside what continues them, and the edges between
 * two columns are one picture, stretched to the rows.
 */

/** @import { SlotView, SlotWiring } from '../../text/slot_values.js' */

import { make, makeSvg } from '../../../kit/js/dom.js';
import { parseNumber } from '../../../kit/js/number.js';

const BRANCHES = 3;
const OUTCOMES = ['found', 'kept', 'dropped', 'unseen']; // of a text

/** @param {SlotWiring} wiring @returns {SlotView} */
export function tree({ cases, controls: { change, latest, value, say } }) {
  const wrong = make('p', { class: 'at-matrix-wrong at-sm at-optional', role: 'alert' });
  const legend = make('p', { class: 'at-row at-wrap at-sm at-quiet at-legend at-gen-legend' }, ...OUTCOMES.map((outcome) =>
    make('span', { class: `at-gen-${outcome}` }, make('i', { 'aria-hidden': 'true' }), ...say(cases[outcome]))));
  /** @type {Map<string, ReturnType<typeof makeWord>>} by its path */
  const nodes = new Map();
  const grid = make('div', {
    class: 'at-gen-tree', onkeydown: ({ key }) => {
      if (key !== 'Escape' || !value('search')) return;
      forget();
      change({ tree: value('search').tree, words: value('search').words }); // also where the server refused a change
    },
  });
  const root = wordField(0);
  root.classList.add('at-gen-root');
  root.setAttribute('aria-label', 'First word');
  const edges = [1, 2].map((level) => {
    const svg = makeSvg('svg', { class: 'at-gen-edges', viewBox: `0 0 100 ${BRANCHES ** 2}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    svg.style.gridColumn = String(2 * level);
    return svg;
  });
  grid.append(root, ...edges);

  /** @param {number} token */
  function wordField(token) {
    const field = make('input', {
      type: 'text', class: 'at-gen-word', autocomplete: 'off', spellcheck: 'false', dir: 'auto', onchange: () => {
        field.dataset.sent = field.value; // until the answer to it is drawn
        change({ words: latest('words').with(token, field.value) });
      },
    });
    return field;
  }

  /** @param {number[]} path */
  function makeWord(path) {
    const token = path.at(-1);
    const [parent, index] = [Math.floor((token - 1) / BRANCHES), (token - 1) % BRANCHES];
    const number = make('input', {
      type: 'text', class: 'at-gen-number', inputmode: 'decimal', autocomplete: 'off', onchange: () => take(number, parent, index),
    });
    const word = wordField(token);
    const total = make('span', { class: 'at-gen-total' });
    const node = make('div', {}, number, word, total);
    node.style.gridColumn = String(2 * path.length + 1);
    const rows = BRANCHES ** (2 - path.length);
    const rank = path.length === 1 ? token - 1 : token - 1 - BRANCHES;
    node.style.gridRow = `${rank * rows + 1} / span ${rows}`;
    grid.append(node);
    return { node, number, word, total, token, parent, index };
  }

  /** @param {HTMLInputElement} field @param {number} row @param {number} column of the tree's numbers */
  function take(field, row, column) {
    const share = parseNumber(field.value);
    const isRight = share !== null && share >= 0 && share <= 1;
    field.setAttribute('aria-invalid', String(!isRight));
    wrong.textContent = isRight ? '' : `“${field.value.slice(0, 20)}” can’t be a probability: enter a number from 0 to 1.`;
    if (!isRight) return;
    field.dataset.sent = field.value;
    change({ tree: latest('tree').map((line, i) => (i === row ? line.with(column, share) : line)) });
  }

  function forget() {
    for (const field of grid.querySelectorAll('input')) field.dataset.sent = field.value;
    wrong.textContent = '';
  }

  function draw({ search }) {
    const { words } = search;
    show(root, words[0]);
    const outcomes = new Map(search.paths.map(({ path, outcome }) => [String(path), outcome]));
    for (const { path, p, outcome } of search.paths) {
      const key = String(path);
      if (!nodes.has(key)) nodes.set(key, makeWord(path));
      const { node: place, number, word, total, token, parent, index } = nodes.get(key);
      place.className = `at-row at-gap-sm at-gen-node at-gen-${outcome}`;
      show(number, String(search.tree[parent][index]));
      number.setAttribute('aria-label', `Probability of ${words[token]} after ${words[parent]}`);
      show(word, words[token]);
      word.setAttribute('aria-label', `Word ${index + 1} after ${words[parent]}`);
      word.title = say(cases[outcome]).map(({ textContent }) => textContent).join('');
      const isGreedy = key === String(search.greedy.path);
      total.textContent = path.length > 1 ? `${Number(p.toPrecision(3))}${isGreedy ? ' greedy' : ''}` : '';
    }
    edges.forEach((svg, level) => svg.replaceChildren(...edgesOf(search.paths.filter(({ path }) => path.length === level + 1), outcomes)));
  }

  return { node: make('div', {}, make('div', { class: 'at-scroll at-gen-scroll' }, grid), wrong, legend), draw, forget };
}

/** Shows a value, unless something else was typed that nobody has taken yet. @param {HTMLInputElement} field @param {string} value */
function show(field, value) {
  if (field.dataset.sent !== undefined && field.value !== field.dataset.sent) return;
  field.value = field.dataset.sent = value;
  field.size = Math.max(2, value.length); // where no style sheet can make it as wide as its text
  field.removeAttribute('aria-invalid');
}

/** The lines from one column to the next, what was found drawn last. @param {{path: number[], outcome: string}[]} paths */
function edgesOf(paths, outcomes) {
  const middle = (path) => {
    if (!path.length) return BRANCHES ** 2 / 2;
    const rows = BRANCHES ** (2 - path.length);
    return (path.at(-1) - 1 - (path.length === 1 ? 0 : BRANCHES)) * rows + rows / 2;
  };
  const ordered = paths.toSorted((a, b) => Number(outcomes.get(String(a.path)) === 'found') - Number(outcomes.get(String(b.path)) === 'found'));
  return ordered.map(({ path, outcome }) => {
    const [from, to] = [middle(path.slice(0, -1)), middle(path)];
    return makeSvg('path', { class: `at-gen-${outcome}`, d: `M0 ${from}C50 ${from} 50 ${to} 100 ${to}`, 'vector-effect': 'non-scaling-stroke' });
  });
}
