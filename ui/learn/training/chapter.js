/**
 * One training step: the target at each position, the gradients, and Adam's update.
 *
 * @typedef {{change: (changes: object) => void, fresh: (changes: object) => void, onwards: (steps: number) => void,
 *   restart: () => void, say: (...parts: (string | Element)[]) => void}} TrainingControls what a part is made with: `fresh` restarts at
 *   step 1
 * @typedef {{nodes: HTMLElement[], draw: (result: any) => void}} TrainingPart
 */

import { make } from '../../kit/js/dom.js';
import { withFormulas } from '../../kit/js/formula.js';
import { percent, signed } from '../../kit/js/text.js';
import { explanationLine, sentenceField } from '../explanation.js';
import { plainButton, labelled, rangeHint, lessonPart, sideBySide, paragraph } from '../lesson.js';
import { matrixTable } from '../matrix.js';
import { lossCurve, recordedCurve } from './curves.js';

const TABLES = [
  ['before', 'Weights before, w'], ['gradient', 'Gradient, g'], ['first', 'First moment, m'],
  ['second', 'Second moment, v'], ['change', 'Change, Δw'], ['after', 'Weights after, w + Δw'],
];

/** @type {import('../lesson.js').Build} */
export function build(root, ask) {
  /** @type {any} the settings last sent or received */
  let now = {};
  let most = 1; // steps that are taken here
  const change = (changes) => {
    now = { ...now, ...changes };
    ask(now);
  };
  const line = explanationLine('Point at a number in a table');
  const controls = {
    change,
    fresh: (changes) => change({ step: 1, ...changes }), // earlier steps learned from other data
    onwards: (steps) => change({ step: Math.min(most, now.step + steps) }),
    restart: () => ask({}),
    say: line.say,
  };
  const kinds = [sentencePart, stepsPart, forcingPart, gradientPart, adamPart, curvesPart];
  const parts = kinds.map((part) => part(controls));
  root.append(
    paragraph('The small transformer of “A block by hand” learns one sentence. A training step has four parts: the loss, its '
      + 'gradient, Adam’s two moments, and the change of every weight. A large model is trained by doing this '
      + 'many times, on many sentences.'),
    ...parts.flatMap(({ nodes }) => nodes), line.node);
  ask({});

  return (result) => {
    now = result.given;
    most = result.most_steps;
    parts.forEach(({ draw }) => draw(result));
  };
}

/** The sentence to learn. @param {TrainingControls} controls @returns {TrainingPart} */
function sentencePart({ fresh }) {
  const source = sentenceField('The encoder reads', (ids) => fresh({ source: ids }));
  const reply = sentenceField('The decoder should answer', (ids) => fresh({ answer: ids }));

  function draw({ given, words, longest }) {
    source.put(given.source, words, longest);
    reply.put(given.answer, words, longest);
  }

  return { nodes: [sideBySide(source.node, reply.node)], draw };
}

/** Learning rate, number of steps, and the loss curve. @param {TrainingControls} controls @returns {TrainingPart} */
function stepsPart({ fresh, onwards, restart }) {
  const rate = make('input', { type: 'number', min: '0.000001', max: 1, step: 'any', onchange: () => {
    if (limits.right()) fresh({ learning_rate: Number(rate.value) });
  } });
  const slider = make('input', { // each step of it multiplies the rate by 10^0.1
    type: 'range', min: -5, max: 0, step: 0.1, 'aria-label': 'Learning rate, on a logarithmic scale',
    onchange: () => fresh({ learning_rate: Number((10 ** Number(slider.value)).toPrecision(2)) }),
  });
  const limits = rangeHint(rate);
  const next = plainButton('Take a step', () => onwards(1));
  const ten = plainButton('Take ten steps', () => onwards(10));
  next.className = 'at-primary';
  const outcome = make('p', { class: 'at-lesson-text', role: 'status' });
  const curve = make('div', { class: 'at-loss-curve' });

  function draw({ given: { step, learning_rate: learningRate }, losses, norm, most_steps: most }) {
    slider.value = String(Math.log10(learningRate));
    if (document.activeElement !== rate) {
      rate.value = String(learningRate);
      limits.right();
    }
    next.disabled = ten.disabled = step >= most;
    const [before, after] = losses.slice(-2);
    outcome.textContent = `Step ${step}: the loss goes from ${before.toFixed(3)} to ${after.toFixed(3)}`
      + `${after > before ? ', higher than before: the step was too large' : ''}. `
      + `That is a perplexity of e^${after.toFixed(3)} = ${threeDigits(Math.exp(after))}, as if the model had to choose among `
      + 'that many equally probable words. '
      + `The norm of the whole gradient is ${norm.toPrecision(3)}.`
      + (step >= most ? ` This chapter stops after ${most} steps.` : '');
    curve.replaceChildren(lossCurve(losses));
  }

  return {
    nodes: [
      sideBySide(make('div', { class: 'at-lesson-field' }, labelled('Learning rate', rate), slider, limits.node),
        next, ten, plainButton('Reset', restart)),
      make('p', { class: 'at-quiet', text: 'Changing the learning rate or the words starts again at step 1.' }),
      outcome, curve,
    ],
    draw,
  };
}

/** The input and the prediction at each position. @param {TrainingControls} controls @returns {TrainingPart} */
function forcingPart({ say }) {
  /** @type {any} */
  let shown = null;
  const list = make('ol', { class: 'at-targets' });
  const table = matrixTable({
    caption: 'Probabilities of the next word', scale: 'share', onPoint: (cell) => cell && explain(cell),
  });
  const node = lessonPart('Teacher forcing',
    paragraph('At every position, the decoder reads the correct words so far, not its own guesses, and has to '
      + 'predict the next one. Thanks to the look-ahead mask, all positions are predicted in one pass. Loss = −ln '
      + 'p(target). The table shows the probabilities before the step. When does a model stop? The end token <eos> is '
      + 'a target like any other: add it to the answer above, and the model learns to predict it after the last '
      + 'word.'),
    list, table.node);

  function explain({ row, column }) {
    const { read, probabilities, target, loss } = shown.positions[row];
    const p = signed(probabilities[column].toPrecision(5));
    const what = column === target ? `the target, so the loss is −ln ${p} = ${loss.toFixed(3)}` : 'not the target';
    const words = read.map((id) => shown.words[id]).join(' ');
    say(`After “${words}”, p(${shown.words[column]}) = ${p}; it is ${what}`);
  }

  function draw(result) {
    shown = result;
    const { positions, words } = result;
    list.replaceChildren(...positions.map((one) => targetItem(one, words)));
    table.update(positions.map((one) => one.probabilities), {
      rowNames: positions.map((one) => `→ ${words[one.target]}`), columnNames: words,
    });
    table.light((row, column) => column === positions[row].target);
  }

  return { nodes: [node], draw };
}

/** The norm of each gradient, and which one is shown. @param {TrainingControls} controls @returns {TrainingPart} */
function gradientPart({ change }) {
  const norms = make('div', {
    class: 'at-norms', role: 'radiogroup', 'aria-label': 'Matrix to show',
    onchange: (event) => change({ matrix: event.target.value }),
  });
  const node = lessonPart('The gradient',
    paragraph('Backpropagation (`accelerator.backward` in training/run/loop.py) computes, for each weight, the '
      + 'slope of the loss: how fast it rises as the weight grows a little. Below is the norm of each matrix’s gradient; select one to see it:'),
    norms);
  const draw = (result) => norms.replaceChildren(...normChoices(result.norms, result.given.matrix));
  return { nodes: [node], draw };
}

/** From gradient to new weights, table by table. @param {TrainingControls} controls @returns {TrainingPart} */
function adamPart({ say }) {
  /** @type {any} */
  let shown = null;
  const tables = TABLES.map(([key, caption]) => ({ key, ...matrixTable({
    caption, onPoint: (cell) => cell && explain(key, caption, cell),
  }) }));
  const node = lessonPart('What Adam does with it',
    paragraph('Adam (Kingma and Ba, 2015) keeps two running averages: $m ← β₁ m + (1 − β₁) g$ of the gradient and '
      + '$v ← β₂ v + (1 − β₂) g²$ of its square. Both start at zero, so at step $t$ they are divided by $1 − β₁ᵗ$ and '
      + '$1 − β₂ᵗ$: $m̂$ and $v̂$. Then $Δw = −η · m̂ / (√v̂ + ε)$, where $η$ is the learning rate and the tiny $ε$ prevents '
      + 'division by zero. In the first step, $m̂ / √v̂$ is the sign of the gradient: a weight moves by the learning rate, however small '
      + 'its gradient, and stays only where the gradient is 0. In the code: `adam` in lesson/training.py, which a '
      + 'test compares with PyTorch’s.'),
    make('div', { class: 'at-tables' }, ...tables.map((table) => table.node)));

  function explain(key, caption, { row, column }) {
    const at = (name) => threeDigits(shown.update[name][row][column]);
    say(...withFormulas(`${caption}: ${FORMULAS[key](at, shown)} = ${at(key)}`));
    tables.forEach((table) => table.light((i, j) => i === row && j === column));
  }

  function draw(result) {
    shown = result;
    tables.forEach(({ key, update, light }) => {
      const rows = result.update[key];
      update(rows, {
        rowNames: rows.map((_, i) => result.rows[i] ?? ''),
        columnNames: rows[0].map((_, j) => result.columns[j] ?? ''),
        digits: digitsFor(rows),
      });
      light(null);
    });
  }

  return { nodes: [node], draw };
}

/** The curves of the trainings that made this page's models. @returns {TrainingPart} */
function curvesPart() {
  const figures = make('div', { class: 'at-two' });
  const node = lessonPart('A real training',
    paragraph('These are the real curves of the models that come with this page, recorded while they were trained '
      + '(`training/`, and the cards in checkpoints/). The loss falls fast at first and ever more slowly afterwards. A '
      + 'loss of 1.8 nats is a perplexity of $e^1.8 = 6$.'), figures);
  let shown = '';

  function draw({ curves }) {
    node.hidden = !curves.length;
    if (shown === JSON.stringify(curves)) return;
    shown = JSON.stringify(curves);
    figures.replaceChildren(...curves.map(recordedCurve));
  }

  return { nodes: [node], draw };
}

/**
 * The formula behind each table.
 * @type {Record<string, (at: (name: string) => string, shown: any) => string>} `at`: the number there in another table
 */
const FORMULAS = {
  before: (at, { given: { step } }) => (step === 1 ? 'the model’s initial value' : `the value after step ${step - 1}`),
  gradient: () => 'the slope of the loss along this weight',
  first: (at, { betas: [beta] }) => `${beta} · ${at('first_before')} + ${oneMinus(beta)} · ${at('gradient')}`,
  second: (at, { betas: [, beta] }) => `${beta} · ${at('second_before')} + ${oneMinus(beta)} · ${at('gradient')}²`,
  change: (at, { given: { step, learning_rate: rate }, betas: [first, second], epsilon }) =>
    `$−${rate} · {{${at('first')} / 1 − ${power(first, step)}} / √{{${at('second')} / 1 − ${power(second, step)}}} + ${epsilon}}$`,
  after: (at) => `${at('before')} + (${at('change')})`,
};

/** The input of one position and its target. */
function targetItem({ read, target, probabilities, loss }, words) {
  return make('li', {}, make('span', { class: 'at-target-context', text: read.map((id) => words[id]).join(' ') }),
    make('span', { text: ' → ' }), make('b', { text: words[target] }),
    make('span', { class: 'at-quiet', text: `  ${percent(probabilities[target])}, loss ${loss.toFixed(3)}` }));
}

/** A bar for the gradient of each matrix, as a radio button. */
function normChoices(norms, chosen) {
  const most = Math.max(...Object.values(norms));
  return Object.entries(norms).map(([name, norm]) => {
    const bar = make('i', { 'aria-hidden': 'true' });
    bar.style.width = `${(100 * norm) / most}%`;
    return make('label', { class: 'at-norm' },
      make('input', {
        class: 'at-hidden', type: 'radio', name: 'training-matrix', value: name, checked: name === chosen,
      }),
      make('span', { text: name }), make('span', { class: 'at-norm-bar' }, bar),
      make('span', { text: norm.toPrecision(3) }));
  });
}

/** How many decimals show the largest number with three digits. @param {number[][]} rows */
function digitsFor(rows) {
  const most = Math.max(...rows.flat().map(Math.abs));
  return most ? Math.min(9, Math.max(2, 2 - Math.floor(Math.log10(most)))) : 2;
}

/** @param {number} number with three digits */
const threeDigits = (number) => signed(String(Number(number.toPrecision(3))));

/** 1 − β, without binary rounding errors. @param {number} beta */
const oneMinus = (beta) => Number((1 - beta).toPrecision(3));

/** @param {number} base @param {number} exponent 1 is not written */
const power = (base, exponent) => (exponent === 1 ? String(base) : `${base}^${exponent}`);
