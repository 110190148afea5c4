/**
 * Why one token and not another: which words made the difference, which parts of the model wrote it, and which embeddings.
 */

/** @import { InputsAnswer, PartsAnswer, WordsAnswer } from './why_contract' */
/** @import { Asking, Place } from './why.js' */
/** @import { Sheet } from '../../kit/js/data.js' */

import { make } from '../../kit/js/dom.js';
import { makeData } from '../../kit/js/data.js';
import { percent, signed, visibleText } from '../../kit/js/text.js';
import { makeRadioSwitch } from '../../kit/parts/radio_switch.js';
import { ranked, rivalOf } from '../step.js';
import { makeBars, makeHeadGrid, makeScoredText, nats, roomBeside } from './plots.js';

const ALONE = ''; // in the place of a rival
const STEPS = 30;
const GAP_ALLOWED = 0.1; // of the difference: scores with a larger gap say little
const NAMES = { attention: 'attention', cross_attention: 'cross-attention', feed_forward: 'feed-forward' };

/** @param {Asking} asking */
export function makeView({ answerTo, isRecorded = false }) {
  let place = /** @type {Place | null} */ (null);
  let answeredKey = ''; // what was answered last
  let steps = STEPS;
  /** @type {{words?: WordsAnswer, parts?: PartsAnswer, inputs?: InputsAnswer}} about the pair that is chosen */
  let answers = {};

  const chosen = make('select', { 'aria-label': 'The token to explain', onchange: refresh });
  const rival = make('select', { 'aria-label': 'The token to compare it with', onchange: refresh });
  const words = makeSection('Which words did it?', 'Under each word: how the log-probability ratio of the two tokens changes without it. Where it falls, the '
    + 'word speaks for the first token (blue); where it rises, against it (orange). A word without effect may still matter: another may say the same, and a text with a hole may be unlike '
    + 'anything the model has read.');
  const parts = makeSection('Which parts wrote it?', 'How much each part added to the difference of the two logits, with the scale of the final norm held '
    + 'fixed. This is what a part writes directly: it can’t prove that the choice would change without it, since other parts read it or could take its place.');
  const inputs = makeSection('Which embeddings did it?', 'Gradients say how the difference would react to small changes of each token’s embedding. No word '
    + 'makes such a change, so they can’t prove what another word would have done.');
  const method = makeRadioSwitch('why-gradient', 'How embeddings are weighed', { 30: 'integrated gradients', 0: 'gradient × input' }, (value) => {
    steps = Number(value);
    askInputs();
  });
  const data = makeData(sheets);
  const node = make('div', { class: 'at-stack' },
    make('p', { class: 'at-row at-wrap at-gap-sm at-md' }, 'Why', chosen, 'and not', rival, '?'),
    words.node, parts.node, inputs.node, data.node);
  method.choose('30');
  for (const control of [chosen, rival, method.node]) control.inert = isRecorded;

  /** @param {Place} next */
  function show(next) {
    const isNew = !place || place.step !== next.step;
    place = next;
    if (isNew) offer();
    if (next.pair) [chosen.value, rival.value] = [String(next.pair.chosen), String(next.pair.rival ?? ALONE)];
    if (answeredKey !== keyOf() || !answers.inputs) refresh();
  }

  /** Offer the step's candidates; at first what was chosen and its rival. */
  function offer() {
    const candidates = ranked(place.step.candidates, 0);
    const options = () => candidates.map(({ id, text, modelShare }) => make('option', { value: id, text: `${visibleText(text)}  ${percent(modelShare)}` }));
    chosen.replaceChildren(...options());
    rival.replaceChildren(...options(), make('option', { value: ALONE, text: 'anything else' }));
    chosen.value = String(place.step.id);
    rival.value = String(rivalOf(place.step)?.id ?? ALONE);
  }

  const keyOf = () => `${place.text} ${place.index} ${chosen.value} ${rival.value}`;
  const pair = () => ({ chosen: Number(chosen.value), rival: rival.value === ALONE ? null : Number(rival.value) });

  async function refresh() {
    answeredKey = keyOf();
    answers = {};
    const mine = answers;
    for (const section of [words, parts, inputs]) section.body.replaceChildren();
    mine.words = await answerTo('words', pair());
    if (mine !== answers) return; // another pair was chosen meanwhile
    if (mine.words) drawWords(mine.words);
    mine.parts = await answerTo('parts', pair());
    if (mine !== answers) return;
    if (mine.parts) drawParts(mine.parts);
    await askInputs();
  }

  async function askInputs() {
    const [mine, askedSteps] = [answers, steps];
    const answer = await answerTo('inputs', { ...pair(), steps });
    if (mine !== answers || askedSteps !== steps) return;
    mine.inputs = answer;
    if (answer) drawInputs(answer);
    data.draw();
  }

  /** @param {WordsAnswer} answer */
  function drawWords(answer) {
    words.body.replaceChildren(makeScoredText(answer.words.map(({ text, change }) => ({
      text, value: change === null ? null : -change,
      title: change === null ? 'not left out' : `Without it, the log-probability ratio changes by ${nats(change)}`,
    })), (value) => nats(-value)));
  }

  /** @param {PartsAnswer} answer */
  function drawParts(answer) {
    const { heads, cross_heads: cross } = answer;
    const grids = [heads && headGrid(heads, answer.rest, 'Heads of attention'), cross && headGrid(cross, answer.cross_rest, 'Heads of cross-attention')].filter(Boolean);
    const note = heads ? [] : [make('p', { class: 'at-sm at-quiet', text: 'In this model what the heads write is normed before it is added, so their shares can’t be told apart.' })];
    parts.body.replaceChildren(
      make('div', { class: 'at-side-by-side' }, makeBars([...partsOf(answer), { name: 'sum', value: sumOf(answer), isSum: true }], 'What each part wrote'),
        make('div', { class: 'at-stack' }, ...grids, ...note)),
      make('p', { class: 'at-sm at-quiet', text: `The parts add up to ${nats(sumOf(answer))}, the logits differ by ${nats(answer.total)}: a gap of ${answer.gap.toExponential(0).replace('-', '−')}.` }));
  }

  /** @param {number[][]} values @param {number[]} rest @param {string} title */
  function headGrid(values, rest, title) {
    return makeHeadGrid({
      values, title, room: roomBeside(parts.body.clientWidth), file: ['heads', place.step.nameOf(pair().chosen)],
      describe: (row, column) => `Layer ${row + 1}, head ${column + 1}: ${nats(values[row][column])}; the output projection’s bias adds ${nats(rest[row])} in this layer`,
    });
  }

  /** @param {InputsAnswer} answer */
  function drawInputs({ ids, scores, labels, total, gap }) {
    const other = steps ? `average embeddings${scores[0] ? '' : ' behind the same first token'}` : 'empty embeddings';
    inputs.body.replaceChildren(method.node, makeScoredText(ids.map((id, i) => ({ text: labels[id], value: scores[i] }))),
      make('p', { class: 'at-sm at-quiet', text: `The scores add up to ${nats(scores.reduce((sum, score) => sum + score, 0))}; against a text of ${other} the `
        + `difference is ${nats(total)}: a gap of ${signed(gap.toFixed(3))}${gap > GAP_ALLOWED * Math.abs(total) ? ', too much to rely on these scores' : ''}.` }));
  }

  /** @returns {Sheet[]} */
  function sheets() {
    const tables = [];
    if (answers.words) tables.push({ title: 'Words', head: ['word', 'change without it, nats'], rows: answers.words.words.map(({ text, change }) => [JSON.stringify(text), change ?? '']) });
    if (answers.parts) {
      const { heads, cross_heads: cross } = answers.parts;
      tables.push({ title: 'Parts', head: ['part', 'share of the difference'], rows: [...partsOf(answers.parts).map(({ name, value }) => [name, value]), ['total', answers.parts.total]] });
      const listed = (values, kind) => (values ?? []).flatMap((line, layer) => line.map((value, head) => [kind, layer + 1, head + 1, value]));
      tables.push({ title: 'Heads', head: ['kind', 'layer', 'head', 'share of the difference'], rows: [...listed(heads, 'attention'), ...listed(cross, 'cross-attention')] });
    }
    if (answers.inputs) {
      const { ids, labels, scores } = answers.inputs;
      tables.push({ title: steps ? 'Integrated gradients' : 'Gradient × input', head: ['token', 'score'], rows: ids.map((id, i) => [JSON.stringify(labels[id]), scores[i]]) });
    }
    return tables;
  }

  return { node, show };
}

/** @param {PartsAnswer} answer */
const partsOf = ({ embedding, names, sublayers, constant }) => [
  { name: 'embeddings', value: embedding },
  ...sublayers.flatMap((line, layer) => line.map((value, i) => ({ name: `layer ${layer + 1} ${NAMES[names[i]]}`, value }))),
  { name: 'biases', value: constant },
];

/** @param {PartsAnswer} answer */
const sumOf = (answer) => partsOf(answer).reduce((sum, { value }) => sum + value, 0);

/** @param {string} title @param {string} words */
function makeSection(title, words) {
  const body = make('div', { class: 'at-stack' });
  return { body, node: make('section', { 'aria-label': title, class: 'at-causes-part' }, make('h4', { text: title }), make('p', { class: 'at-sm at-quiet', text: words }), body) };
}
