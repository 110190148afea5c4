/**
 * What the scores say: sums over the text, the curve, the text's tokens, the most surprising ones, and all numbers as tables.
 */

/** @import { ScoredText } from './scores_contract' */
/** @import { Span } from './spans.js' */

import { termLink } from '../../glossary/term_link.js';
import { makeStrip } from '../../inspector/token_strip.js';
import { pictureButton } from '../../inspector/why/plots.js';
import { makeData } from '../../kit/js/data.js';
import { headCell, make, makeTable } from '../../kit/js/dom.js';
import { counted, percent, tokenChip } from '../../kit/js/text.js';
import { makeRadioSwitch } from '../../kit/parts/radio_switch.js';
import { makeCurve, pointsIn } from './curve.js';
import { comparedBitsPerByte, curveOf, indexAt, mostSurprising, probabilityOf, scoreSheet, spansOf } from './spans.js';

const LISTED = 12; // of the most surprising tokens

/** @typedef {{score: ScoredText, spans: Span[]}} Placed */

export function makeReport() {
  /** @type {Placed[]} of one or two models */
  let placed = [];
  let owner = 0; // whose tokens are shown
  let selected = 0;
  let width = 0; // of the curve, in pixels
  let curve = /** @type {ReturnType<typeof makeCurve> | null} */ (null);

  const sums = make('div', { class: 'at-scroll' });
  const notes = make('div', { class: 'at-sm at-quiet' });
  const drawing = make('div', { class: 'at-drawn' });
  const readout = make('div', { class: 'at-sm at-curve-names at-scores-readout', 'aria-live': 'polite' });
  const whose = make('div', {});
  const strip = makeStrip((index) => select(index - first()), 'Tokens of the scored text');
  const list = make('ol', { class: 'at-row at-wrap at-gap-xs at-scores-most' });
  const data = makeData(() => placed.map(({ score }) => ({ ...scoreSheet(score), file: [score.title, 'surprise', score.tokens.slice(0, 12).map(({ text }) => text).join('')] })), 'All tokens: table and CSV');
  const node = make('div', { class: 'at-stack' }, sums, notes, make('div', {}, drawing, readout), make('div', {}, make('div', { class: 'at-row at-wrap at-scores-legend' }, whose, legend()), strip.node),
    make('div', {}, make('h3', { text: 'Most surprising' }), list), data.node);

  new ResizeObserver(() => {
    if (placed.length && Math.round(node.clientWidth) !== width) drawCurve();
  }).observe(node);

  /** Tokens of the strip before the first that is scored. */
  const first = () => (placed[owner].score.skipped ? 1 : 0);

  /** @param {ScoredText[]} scores of one text */
  function show(scores) {
    placed = scores.map((score) => ({ score, spans: spansOf(score) }));
    sums.replaceChildren(sumTable(placed));
    const said = notesOn(scores);
    notes.replaceChildren(...said.map((text) => make('p', { text })));
    notes.hidden = !said.length;
    const labels = Object.fromEntries(scores.map(({ title }, i) => [String(i), title]));
    const owners = makeRadioSwitch('scores-owner', 'Whose tokens to show', labels, (value) => showTokens(Number(value)));
    owners.choose('0');
    whose.replaceChildren(...(scores.length > 1 ? [owners.node] : []));
    data.draw();
    showTokens(0);
  }

  /** @param {number} model */
  function showTokens(model) {
    owner = model;
    const { score } = placed[owner];
    strip.update([
      ...(score.skipped ? [{ text: score.skipped.text, kind: 'prompt', probability: null }] : []),
      ...score.tokens.map(({ text, surprise }) => ({ text, kind: 'generated', probability: probabilityOf(surprise) })),
    ]);
    const most = mostSurprising(score, LISTED);
    list.replaceChildren(...most.map((index) => {
      const { text, surprise } = score.tokens[index];
      return make('li', {}, make('button', { type: 'button', class: 'at-plain at-row at-gap-xs', onclick: () => select(index) },
        tokenChip(text, true), make('span', { class: 'at-sm at-quiet', text: bits(surprise) })));
    }));
    selected = most[0];
    drawCurve();
    select(selected);
  }

  function drawCurve() {
    width = Math.round(node.clientWidth);
    if (!width) return;
    const isPerByte = placed.length > 1;
    const { score, spans } = placed[owner];
    curve = makeCurve({
      curves: placed.map((one) => curveOf(one.score, one.spans, pointsIn(width), isPerByte)),
      unit: isPerByte ? 'bits per byte' : 'bits per token',
      title: `Surprise over the text, in bits per ${isPerByte ? 'byte' : 'token'}`,
      bytes: score.bytes, width, count: spans.length, current: () => selected,
      indexAt: (place) => indexAt(spans, place),
      point: (index) => read(index ?? selected),
      pick: select,
    });
    drawing.replaceChildren(curve.node);
    read(selected);
  }

  /** @param {number} index */
  function select(index) {
    selected = Math.min(placed[owner].spans.length - 1, Math.max(0, index));
    strip.select(selected + first());
    strip.reveal();
    read(selected);
  }

  /** Say the numbers of a token, and of the other model's token in its place. @param {number} index */
  function read(index) {
    const span = placed[owner].spans[index];
    curve?.mark(span);
    readout.replaceChildren(...placed.map(({ score, spans }, i) => {
      const { text, surprise, rank, entropy } = score.tokens[i === owner ? index : indexAt(spans, (span.from + span.to) / 2)];
      return make('p', { class: `at-row at-wrap at-gap-sm at-key-${i}` }, make('i', {}), ...(placed.length > 1 ? [make('span', { class: 'at-quiet', text: score.title })] : []),
        tokenChip(text, true), make('span', { class: 'at-strong', text: bits(surprise) }),
        make('span', { class: 'at-quiet', text: `probability ${percent(probabilityOf(surprise))} · rank ${counted.format(rank)} · entropy ${bits(entropy)}` }));
    }));
  }

  return { node, show, save: pictureButton(() => drawing, ['surprise']) };
}

const legend = () => make('span', { class: 'at-row at-gap-sm at-sm at-quiet at-end' }, 'surprising', make('i', { class: 'at-ramp at-ramp-probability' }), 'expected');

/** @param {number} number */
const bits = (number) => `${number.toFixed(2)} bits`;

/** @param {number} number */
const short = (number) => (number >= 1e6 ? number.toExponential(2) : counted.format(Number(number.toPrecision(4))));

/** @param {Placed[]} placed */
function sumTable(placed) {
  const perByte = placed.length > 1 ? comparedBitsPerByte(placed) : [placed[0].score.bits_per_byte];
  const least = Math.min(...perByte);
  const head = (term, name) => make('th', { scope: 'col', class: 'at-number' }, term ? termLink(term, name) : name);
  const cell = (text, isLeast = false) => make('td', { class: `at-number${isLeast ? ' at-strong' : ''}`, text });
  const rows = placed.map(({ score: { title, tokens, skipped, perplexity, bits: all } }, i) => make('tr', {},
    make('th', { scope: 'row', class: `at-ellipsis at-key-${i}`, title }, make('i', {}), title), cell(perByte[i].toFixed(3), placed.length > 1 && perByte[i] === least), cell(short(perplexity)),
    cell(short(all)), cell(counted.format(tokens.length + (skipped ? 1 : 0)))));
  return makeTable({ class: 'at-md at-scores-sums at-curve-names' }, [headCell('col', 'Model'), head('', 'Bits per byte'), head('perplexity', 'Perplexity'), head('', 'Bits'), head('', 'Tokens')], rows, 'The text as a whole');
}

/** @param {ScoredText[]} scores */
function notesOn(scores) {
  const of = (title) => (scores.length > 1 ? `${title}: ` : '');
  return [
    ...(scores.length > 1 ? [`Compare the models by bits per byte${scores.some(({ skipped, ended }) => skipped || ended) ? ', here of the part that both have scored' : ''}. Perplexity is an average over tokens, so it only compares models with the same tokens.`] : []),
    ...scores.flatMap(({ title, skipped, window, ended, tokens, total }) => [
      ...(ended ? [`${of(title)}${ended === 'stopped' ? 'You stopped it' : 'The page’s time limit ended it'}: the numbers cover the first ${counted.format(tokens.length)} of ${counted.format(total)} tokens.`] : []),
      ...(window ? [`${of(title)}The text is longer than the ${counted.format(window.context)} tokens that the model reads at once, so it was read in overlapping windows: each token, except the first ones, has at least ${counted.format(window.before)} tokens before it.`] : []),
      ...(skipped ? [`${of(title)}The first token has no score, because the model predicts none without a token before it.`] : []),
    ]),
  ];
}
