/**
 * One training step: the learning rate, the loss as a curve, the target at each position, the gradients, Adam's formulas.
 */

/** @import { Point } from '../../drawings/plot.js' */
/** @import { Explained } from '../../text/chapter_text.js' */
/** @import { MatrixCell, SlotView, SlotWiring } from '../../text/slot_values.js' */

import { find, make } from '../../../kit/js/dom.js';
import { counted, percent, signed } from '../../../kit/js/text.js';
import { labelled, rangeHint } from '../../lesson.js';
import { extentBar } from '../../drawings/pieces.js';
import { chart } from '../../drawings/plot.js';
import { redrawn } from '../../text/slot_values.js';

/** The learning rate as a number, and on a logarithmic scale. @param {SlotWiring} wiring @returns {SlotView} */
export function rate({ label, controls }) {
  const fresh = (value) => controls.change({ step: 1, learning_rate: value }); // earlier steps had another rate
  const box = make('input', { type: 'number', min: '0.000001', max: 1, step: 'any', onchange: () => {
    if (limits.right()) fresh(Number(box.value));
  } });
  const slider = make('input', { // each step of it multiplies the rate by 10^0.1
    type: 'range', min: -5, max: 0, step: 0.1, 'aria-label': `${label}, on a logarithmic scale`,
    onchange: () => fresh(Number((10 ** Number(slider.value)).toPrecision(2))),
  });
  const limits = rangeHint(box);

  function draw({ inputs: { learning_rate: value } }) {
    slider.value = String(Math.log10(value));
    if (document.activeElement === box) return;
    box.value = String(value);
    limits.right();
  }

  return { node: make('div', { class: 'at-lesson-field' }, labelled(label, box), slider, limits.node), draw };
}

/** The loss before the first step and after each. @returns {SlotView} */
export const loss_curve = () => redrawn(make('div'), ({ losses }) => {
  const steps = losses.length - 1;
  return [lossPicture(losses.map((y, x) => [x, y]), {
    label: `Loss over ${steps} steps`, ends: ['before', `after step ${steps}`], dots: losses.length <= 30, digits: 3, // as in the line above
  })];
});

/** Answers of one batch, as long as the longest. @returns {SlotView} */
export const batch = () => redrawn(make('div', { class: 'at-batch', role: 'img', 'aria-label': 'Three answers in one batch' }), ({ batch_rows: rows }) =>
  rows.flat().map((word) => make('span', { class: word === '<pad>' ? 'at-batch-pad' : null, text: word })));

/** The trainings that made the page's models. @returns {SlotView} */
export const curves = () => redrawn(make('div', { class: 'at-two' }), ({ curves: all }) => (all ?? []).map(recordedCurve));

/** @param {{name: string, steps: number, tokens: number[], losses: number[], changes: number[]}} training */
function recordedCurve({ name, steps, tokens, losses, changes }) {
  const millions = (tokens.at(-1) / 1e6).toFixed(1);
  const ends = `from ${losses[0].toFixed(2)} to ${losses.at(-1).toFixed(2)} nats a token`;
  return make('figure', {},
    make('figcaption', { class: 'at-quiet', text: `${name}. Loss ${ends}, each point the mean of `
      + `${counted.format(Math.ceil(steps / losses.length))} steps.` }),
    lossPicture(losses.map((y, index) => [tokens[index], y]), {
      label: `Loss of ${name}`, ends: ['start', `${counted.format(steps)} steps, ${millions} million tokens`], dots: false, digits: 2, changes,
    }));
}

/**
 * @param {Point[]} points
 * @param {{label: string, ends: [string, string], dots: boolean, digits: number, changes?: number[]}} about `digits`: of the
 *   largest loss; `changes`: where the data changed, numbered
 */
function lossPicture(points, { label, ends, dots, digits, changes = [] }) {
  const most = Math.max(...points.map(([, y]) => y));
  return chart([420, 120], label, [{ points, colour: 'accent', dots }], {
    heights: [[0, '0'], [most, most.toFixed(digits)]], margins: [38, 10], ends, marks: changes.map((x, index) => [x, String(index + 1)]),
  });
}

/** The input of each position and its target. @returns {SlotView} */
export const targets = () => redrawn(make('ol', { class: 'at-listed at-targets' }), ({ positions, words }) => positions.map(({ read, target, probabilities, loss }) =>
  make('li', {}, make('span', { class: 'at-target-context', text: read.map((id) => words[id]).join(' ') }),
    make('span', { text: ' → ' }), make('b', { text: words[target] }),
    make('span', { class: 'at-quiet', text: `  ${percent(probabilities[target])}, loss ${loss.toFixed(3)}` }))));

/** A bar for the gradient of each matrix, as a radio button. @param {SlotWiring} wiring @returns {SlotView} */
export function norms({ label, controls }) {
  const node = make('div', {
    class: 'at-norms', role: 'radiogroup', 'aria-label': label, onchange: ({ target }) => controls.change({ matrix: target.value }),
  });

  function draw({ norms: all, inputs: { matrix } }) {
    const most = Math.max(...Object.values(all));
    const hadFocus = node.contains(document.activeElement);
    node.replaceChildren(...Object.entries(all).map(([name, norm]) => make('label', { class: 'at-measured at-norm' },
      make('input', { class: 'at-hidden', type: 'radio', name: 'training-matrix', value: name, checked: name === matrix }),
      make('span', { text: name }), extentBar(norm / most), make('span', { class: 'at-number', text: norm.toPrecision(3) }))));
    if (hadFocus) find(node, 'input:checked').focus();
  }

  return { node, draw };
}

/** The targets are marked. */
export const lit = ({ positions }) => ({
  probabilities: (/** @type {MatrixCell} */ { row, column }) => column === positions[row].target,
});

/** @param {string} name @param {MatrixCell} cell @param {any} result @param {string} caption @returns {Explained | null} */
export function explain(name, { row, column }, result, caption) {
  if (name === 'probabilities') return { text: probabilityText(row, column, result), lit: {} };
  if (name === 'counting') return { text: countingText(row, column, result), lit: {} };
  if (name === 'dropped') return { text: droppedText(row, column, result), lit: {} };
  if (!name.startsWith('update.')) return null;
  const at = (key) => threeDigits(result.update[key].rows[row][column]);
  const key = name.replace('update.', '');
  const cells = (/** @type {MatrixCell} */ cell) => cell.row === row && cell.column === column;
  return {
    text: `${caption}: ${FORMULAS[key](at, result)} = ${at(key)}`,
    lit: Object.fromEntries(Object.keys(result.update).map((other) => [`update.${other}`, cells])),
  };
}

function countingText(row, column, { counting: { rows }, inputs: { counts, guess } }) {
  const number = rows[row][column].toFixed(3);
  if (row === 2) return `−ln ${threeDigits(rows[1][column])} = ${number}`;
  const [all, what] = row ? [guess[0], 'of the model’s numbers'] : [counts[0], 'of the counts'];
  return `${all[column]} / (${all.join(' + ')}) = ${number}, a share ${what}`;
}

function droppedText(row, column, { dropped: { rows }, inputs: { dropout } }) {
  const [before, after] = [rows[0][column], rows[1][column]];
  if (!row) return `${before}, before dropout`;
  return after ? `${before} / (1 − ${dropout}) = ${after.toFixed(2)}` : `${before} was dropped in this step`;
}

function probabilityText(row, column, { positions, words }) {
  const { read, probabilities, target, loss } = positions[row];
  const p = signed(probabilities[column].toPrecision(5));
  const what = column === target ? `the target, so the loss is −ln ${p} = ${loss.toFixed(3)}` : 'not the target';
  return `After “${read.map((id) => words[id]).join(' ')}”, p(${words[column]}) = ${p}; it is ${what}`;
}

/**
 * The formula behind each table.
 * @type {Record<string, (at: (name: string) => string, result: any) => string>} `at`: the number there in another table
 */
const FORMULAS = {
  before: (at, { inputs: { step } }) => (step === 1 ? 'the model’s initial value' : `the value after step ${step - 1}`),
  gradient: () => 'the slope of the loss along this weight',
  first: (at, { betas: [beta] }) => `${beta} · ${at('first_before')} + ${oneMinus(beta)} · ${at('gradient')}`,
  second: (at, { betas: [, beta] }) => `${beta} · ${at('second_before')} + ${oneMinus(beta)} · ${at('gradient')}²`,
  change: (at, { inputs: { step, learning_rate: eta }, betas: [first, second], epsilon }) =>
    `$−${eta} · {{${at('first')} / 1 − ${power(first, step)}} / √{{${at('second')} / 1 − ${power(second, step)}}} + ${epsilon}}$`,
  after: (at) => `${at('before')} + (${at('change')})`,
};

/** @param {number} number with three digits */
const threeDigits = (number) => signed(String(Number(number.toPrecision(3))));

/** 1 − β, without binary rounding errors. @param {number} beta */
const oneMinus = (beta) => Number((1 - beta).toPrecision(3));

/** @param {number} base @param {number} exponent 1 is not written */
const power = (base, exponent) => (exponent === 1 ? String(base) : `${base}^${exponent}`);
