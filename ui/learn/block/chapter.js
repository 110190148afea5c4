/**
 * A block by hand: the walk through a small encoder-decoder as a column of steps, whose numbers can be changed.
 *
 * @typedef {{nodes: HTMLElement[], draw: (result: any) => void}} BlockPart
 */

/** @import { BlockCell, BlockStage } from './explanations.js' */
/** @import { BlockStep } from './steps.js' */

import { make } from '../../kit/js/dom.js';
import { formula as drawFormula, withFormulas } from '../../kit/js/formula.js';
import { explanationLine, sentenceField } from '../explanation.js';
import { plainButton, labelled, sideBySide, checkbox, paragraph } from '../lesson.js';
import { matrixNumber, matrixTable } from '../matrix.js';
import { cellsWhere, matricesOf, explain } from './explanations.js';
import { EDITABLE, PARTS } from './steps.js';

/** @type {import('../lesson.js').Build} */
export function build(root, ask) {
  /** @type {any} the settings last sent or received */
  let now = {};
  const change = (changes) => {
    now = { ...now, ...changes };
    ask(now);
  };
  const line = explanationLine('Point at a number');
  const trace = makeTrace((...cell) => change(editedMatrix(now, ...cell)), line.say);
  const question = makeQuestion(change, () => {
    trace.forget();
    ask({});
  });
  root.append(
    paragraph('One encoder layer and one decoder layer, with vectors of six numbers and a vocabulary of eleven '
      + 'words: small enough to follow every number, yet run by the same code that translates here, '
      + '`EncoderDecoder` in model/transformer/encoder_decoder.py, as in “Attention is all you need” (Vaswani et '
      + 'al., 2017). The first numbers come from a lecture that works through “how are you” → “I am fine” by '
      + 'hand.'),
    ...question.nodes, ...trace.nodes, line.node);
  ask({});

  return (result) => {
    now = result.given;
    question.draw(result);
    trace.draw(result);
  };
}

/**
 * The sentences and options of the block.
 * @param {(changes: object) => void} change
 * @param {() => void} restart
 * @returns {BlockPart}
 */
function makeQuestion(change, restart) {
  const source = sentenceField('The encoder reads', (ids) => change({ source: ids }));
  const reply = sentenceField('The decoder should answer', (ids) => change({ answer: ids }));
  const heads = make('select', { onchange: () => change({ heads: Number(heads.value) }) });
  const mask = checkbox('Look-ahead mask in the encoder', (checked) => change({ encoder_mask: checked }));

  function draw({ given, words, longest, heads: counts }) {
    source.put(given.source, words, longest);
    reply.put(given.answer, words, longest);
    heads.replaceChildren(...counts.map((count) => make('option', { value: count, text: count })));
    heads.value = String(given.heads);
    mask.put(given.encoder_mask);
  }

  return {
    nodes: [
      sideBySide(source.node, reply.node),
      sideBySide(labelled('Heads', heads), mask.node, plainButton('Reset', restart)),
    ],
    draw,
  };
}

/**
 * The stages of the walk, part by part; the selected number is explained.
 * @param {(name: string, row: number, column: number, value: number) => void} edit
 * @param {(...parts: (string | Element)[]) => void} say
 * @returns {BlockPart & {forget: () => void}} `forget`: drops what was typed and refused
 */
function makeTrace(edit, say) {
  /** @type {any} */
  let given = {};
  /** @type {Map<string, BlockStage>} */
  let stages = new Map();
  /** @type {Map<string, ReturnType<typeof stageView>>} */
  const views = new Map();
  const loss = make('p', { class: 'at-lesson-text at-forward-loss' });
  let steps = 0;
  const parts = PARTS.map(({ title, open, steps: list }) => make('details', { class: 'at-forward-part', open },
    make('summary', {}, make('h3', { text: title })), ...list.map((step) => stepSection(step, ++steps, view))));

  /** The tables of a stage, made here. @param {[name: string, caption: string]} shown */
  function view([name, caption]) {
    const made = stageView(caption, {
      scale: /(\.weights|probabilities)$/.test(name) ? 'share' : 'signed',
      editable: name in EDITABLE || name.endsWith('.embeddings'),
      onEdit: (row, column, value) => edit(name, row, column, value),
      onPoint: (cell, called) => point(name, called, cell),
    });
    views.set(name, made);
    return made.node;
  }

  /** @param {string} name @param {string} caption of its table @param {BlockCell} cell */
  function point(name, caption, cell) {
    const stage = stages.get(name);
    const { text, from } = explain(stage, cell, (other) => stages.get(other), given);
    const value = matricesOf(stage)[cell.head][cell.row][cell.column];
    const where = [stage.rows[cell.row], stage.columns[cell.column]].filter(Boolean).join(' → ');
    say(...withFormulas(`${caption}${where && `, ${where}`}: ${text} = ${matrixNumber(value, 2)}`));
    views.forEach((other, called) => {
      const at = stage.of.indexOf(called);
      other.light(called === name ? cellsWhere(cell) : at < 0 ? null : from[at]);
    });
  }

  function draw(result) {
    given = result.given;
    stages = new Map(result.stages.map((stage) => [stage.name, stage]));
    views.forEach((one, name) => one.update(shownStage(stages.get(name), given)));
    loss.textContent = `The average loss is ${result.loss.toFixed(3)}. Training lowers it: see “One training step”.`;
  }

  return { nodes: [...parts, loss], draw, forget: () => views.forEach((one) => one.forget()) };
}

/**
 * One step of the walk: its formula, its explanation, and its stages.
 * @param {BlockStep} step
 * @param {number} number
 * @param {(shown: [name: string, caption: string]) => HTMLElement} view makes the tables of a stage
 */
const stepSection = ({ name, formula, code, text, stages, weights }, number, view) =>
  make('div', { class: 'at-forward-step' },
    make('div', { class: 'at-forward-head' },
      make('span', { class: 'at-forward-number', text: number }), make('h4', { text: name }),
      make('span', { class: 'at-formula' }, drawFormula(formula))),
    paragraph(`${text} In the code: ${code}.`),
    make('div', { class: 'at-tables' }, ...stages.map(view)),
    ...(weights ? [make('details', { class: 'at-weights' },
      make('summary', { text: weights.map(([, caption]) => caption).join(', ') }),
      make('div', { class: 'at-tables' }, ...weights.map(view)))] : []));

/**
 * A stage with what is changed of it whole: the walk's own numbers are rounded.
 * @param {BlockStage | undefined} stage
 * @param {any} given
 */
function shownStage(stage, given) {
  if (!stage) return undefined;
  const [side, what] = stage.name.split('.');
  if (what === 'embeddings') return { ...stage, values: idsRead(given, side).map((id) => given.embeddings[id]) };
  return stage.name in EDITABLE ? { ...stage, values: given[EDITABLE[stage.name]] } : stage;
}

/** What a side reads. @param {any} given @param {string} side @returns {number[]} */
const idsRead = (given, side) => (side === 'encoder' ? given.source : [0, ...given.answer.slice(0, -1)]);

/** The change of the settings when a cell is edited. */
function editedMatrix(given, name, row, column, value) {
  const [side, what] = name.split('.');
  const field = what === 'embeddings' ? 'embeddings' : EDITABLE[name];
  const changed = what === 'embeddings' ? idsRead(given, side)[row] : row;
  return { [field]: given[field].map((numbers, i) => (i === changed ? numbers.with(column, value) : numbers)) };
}

/**
 * The tables of one stage, one a head.
 * @param {string} caption
 * @param {{scale: 'signed' | 'share', editable: boolean, onEdit: (row: number, column: number, value: number) => void,
 *   onPoint: (cell: BlockCell, caption: string) => void}} wiring
 */
function stageView(caption, { onPoint, ...wiring }) {
  const node = make('div', { class: 'at-tables' });
  /** @type {ReturnType<typeof matrixTable>[]} */
  let tables = [];

  /** @param {BlockStage | undefined} stage none where there is no such stage in this walk */
  function update(stage) {
    node.hidden = !stage;
    if (!stage) return;
    const matrices = matricesOf(stage);
    const names = (head) => ({
      caption: matrices.length > 1 ? `${caption}, head ${head + 1}` : caption,
      rowNames: stage.rows.length ? stage.rows : matrices[0].map(() => ''),
      columnNames: stage.columns.length ? stage.columns : matrices[0][0].map(() => ''),
    });
    if (tables.length !== matrices.length) {
      tables = matrices.map((rows, head) => matrixTable({
        ...names(head), rows, ...wiring, onPoint: (cell) => cell && onPoint({ ...cell, head }, names(head).caption),
      }));
      node.replaceChildren(...tables.map((table) => table.node));
    } else tables.forEach((table, head) => table.update(matrices[head], names(head)));
  }

  return {
    node,
    update,
    /** @param {((cell: BlockCell) => boolean) | null | undefined} test */
    light: (test) => tables.forEach((table, head) =>
      table.light(test && ((row, column) => test({ row, column, head })))),
    forget: () => tables.forEach((table) => table.forget()),
  };
}
