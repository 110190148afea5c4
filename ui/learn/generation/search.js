/**
 * Greedy decoding against beam search, on a tree of words that can be changed, and their probabilities as well.
 *
 * The tree stands in a grid of one row for every whole text: words are centred beside what continues them, and the edges
 * between two columns are one picture, stretched to the rows.
 */

/** @import { GenerationControls, GenerationPart } from './chapter.js' */

import { make, makeSvg } from '../../kit/js/dom.js';
import { parseNumber } from '../../kit/js/number.js';
import { choiceSwitch, lessonPart, paragraph, plainButton, sideBySide } from '../lesson.js';

const BRANCHES = 3;
const OUTCOMES = { // of a text, for its colour and in words
  found: 'on the way to the text that was found', kept: 'kept as a beam', dropped: 'scored and dropped', unseen: 'never scored',
};

/** @param {GenerationControls} controls @returns {GenerationPart} */
export function searchPart({ change, latest, form: { most_beams: most } }) {
  const counts = Array.from({ length: most }, (_, index) => String(index + 1));
  const beams = choiceSwitch('Beams', counts.map((count) => [count, count]), (value) => change({ beams: Number(value) }));
  const wrong = make('p', { class: 'at-matrix-wrong', role: 'alert' });
  const legend = make('p', { class: 'at-gen-legend' }, ...Object.entries(OUTCOMES).map(([outcome, text]) =>
    make('span', { class: `at-gen-${outcome}` }, make('i', { 'aria-hidden': 'true' }), text)));

  /** @type {any} */
  let shown = null;
  /** @type {Map<string, ReturnType<typeof makeWord>>} by its path */
  const nodes = new Map();
  const tree = make('div', {
    class: 'at-gen-tree', onkeydown: ({ key }) => {
      if (key === 'Escape') restore({ tree: shown.tree, words: shown.words }); // also where the server refused a change
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
  tree.append(root, ...edges);

  /** @param {number} token */
  function wordField(token) {
    const field = make('input', {
      type: 'text', class: 'at-gen-word', autocomplete: 'off', spellcheck: 'false', dir: 'auto', onchange: () => {
        field.dataset.given = field.value; // until the answer to it is drawn
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
    tree.append(node);
    return { node, number, word, total, token, parent, index };
  }

  /** @param {HTMLInputElement} field @param {number} row @param {number} column of the tree's numbers */
  function take(field, row, column) {
    const value = parseNumber(field.value);
    const isRight = value !== null && value >= 0 && value <= 1;
    field.setAttribute('aria-invalid', String(!isRight));
    wrong.textContent = isRight ? '' : `“${field.value.slice(0, 20)}” can’t be a probability: enter a number from 0 to 1.`;
    if (!isRight) return;
    field.dataset.given = field.value;
    change({ tree: latest('tree').map((line, i) => (i === row ? line.with(column, value) : line)) });
  }

  /** Discards what was typed. @param {object} values to ask with instead */
  function restore(values) {
    for (const field of tree.querySelectorAll('input')) field.dataset.given = field.value;
    wrong.textContent = '';
    change(values);
  }

  const sums = make('p', { class: 'at-quiet' });
  const lines = make('div', { role: 'status' });
  const node = lessonPart('Greedy decoding or beam search',
    paragraph('Greedy decoding takes the most probable word at every step and never looks back. So it can miss the '
      + 'most probable text: a less probable first word may lead to a more probable text. Beam search follows several texts at once: '
      + 'every step scores all continuations of each, and only the best stay. In the code, it is `BeamSearch` in '
      + 'decoding/strategies/beam_search.py. The example is von Platen’s (“How to generate text”, 2020). Change any '
      + 'word or number on the tree.'),
    sideBySide(beams.node, plainButton('Reset', () => restore({ tree: undefined, words: undefined, beams: undefined }))), make('div', { class: 'at-gen-scroll' }, tree), wrong, sums, legend, lines,
    paragraph('Beam search comes from speech recognition (Lowerre, 1976). It still looks at a few texts only, so it can '
      + 'miss the most probable one as well. And the most probable text is not always the best: where many '
      + 'continuations are good, as in a story, such texts tend to be dull and to repeat themselves (Holtzman et al., '
      + '2020). That is why Chat here draws its tokens at random unless you choose otherwise, and Translate searches.'));

  function draw({ search }) {
    shown = search;
    const { words } = search;
    beams.put(String(search.beams));
    show(root, words[0]);
    const outcomes = new Map(search.paths.map(({ path, outcome }) => [String(path), outcome]));
    for (const { path, p, outcome } of search.paths) {
      const key = String(path);
      if (!nodes.has(key)) nodes.set(key, makeWord(path));
      const { node: place, number, word, total, token, parent, index } = nodes.get(key);
      place.className = `at-gen-node at-gen-${outcome}`;
      show(number, String(search.tree[parent][index]));
      number.setAttribute('aria-label', `Probability of ${words[token]} after ${words[parent]}`);
      show(word, words[token]);
      word.setAttribute('aria-label', `Word ${index + 1} after ${words[parent]}`);
      word.title = OUTCOMES[outcome];
      const isGreedy = key === String(search.greedy.path);
      total.textContent = path.length > 1 ? `${short(p)}${isGreedy ? ' greedy' : ''}` : '';
    }
    edges.forEach((svg, level) => svg.replaceChildren(...edgesOf(search.paths.filter(({ path }) => path.length === level + 1), outcomes)));
    sums.textContent = search.tree.map((row, index) => [row.reduce((sum, each) => sum + each, 0), words[index]])
      .filter(([sum]) => Math.abs(sum - 1) > 1e-6)
      .map(([sum, word]) => `The numbers after “${word}” add up to ${short(sum)}, so each is divided by that.`).join(' ');
    lines.replaceChildren(...verdict(search).map((text) => make('p', { class: 'at-lesson-text', text })));
  }

  return { nodes: [node], draw };
}

/** Shows a value, unless something else was typed that nobody has taken yet. @param {HTMLInputElement} field @param {string} value */
function show(field, value) {
  if (field.dataset.given !== undefined && field.value !== field.dataset.given) return;
  field.value = field.dataset.given = value;
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

/** What both found, in words. */
function verdict({ words, beams, found, greedy, best, steps }) {
  const text = ({ path }) => `“${[words[0], ...path.map((token) => words[token])].join(' ')}”`;
  const product = ({ factors, p }) => `${factors.map(short).join(' × ')} = ${short(p)}`;
  const list = (entries) => entries.map((entry) => `${entry.path.map((token) => words[token]).join(' ')} (${short(entry.p)})`).join(', ');
  const count = `${beams} ${beams === 1 ? 'beam' : 'beams'}`;
  const isBetter = found.p > greedy.p * (1 + 1e-9);
  const [lost, won] = [greedy, found].map(({ path }) => words[path[0]]);
  const outcome = isBetter ? `Greedy decoding misses it, because “${won}” is less probable than “${lost}” at first.`
    : beams === 1 ? 'With one beam, beam search is greedy decoding.' : 'Here both find the same text.';
  const missed = best.p > found.p * (1 + 1e-9)
    ? [`The most probable of all nine texts is ${text(best)}, ${product(best)}: the search dropped its first word.`] : [];
  return [
    `Greedy decoding finds ${text(greedy)}: ${product(greedy)}.`,
    `Beam search with ${count} finds ${text(found)}: ${product(found)}. It kept ${list(steps[0])} after the first word and `
      + `${list(steps[1])} after the second. ${outcome}`,
    ...missed,
  ];
}

/** @param {number} p with three digits */
const short = (p) => String(Number(p.toPrecision(3)));
