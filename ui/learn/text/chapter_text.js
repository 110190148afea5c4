/**
 * A chapter's text as elements, with what its slots hold; each slot is drawn by its kind, or by the chapter's own script.
 *
 * @typedef {Record<string, any>} Block a paragraph, row, list or part, as `ui/learn/text/chapter_text.py` makes it
 * @typedef {{blocks: Block[], slots: Record<string, Slot>, first: Record<string, any>, exercises: any[]}} ChapterPage
 * @typedef {{explain?: (name: string, cell: MatrixCell, result: any, caption: string) => Explained | null,
 *   lit?: (result: any) => Record<string, (cell: MatrixCell) => boolean>, [drawing: string]: any}} ChapterScript `explain`: how a
 *   number was computed; `lit`: the cells that are marked until one is explained; the others draw the slots of their names
 * @typedef {{text: string, lit: Record<string, (cell: MatrixCell) => boolean>}} Explained with formulas between dollar signs
 */

/** @import { Controls, MatrixCell, Parts, Slot, SlotView, SlotWiring } from './slot_values.js' */

import { explained } from '../../glossary/marking.js';
import { make } from '../../kit/js/dom.js';
import { formula, withFormulas } from '../../kit/js/formula.js';
import * as fields from './fields.js';
import { tokenName } from '../drawings/pieces.js';
import { valueOf } from './slot_values.js';
import * as tables from './tables.js';

/** @type {Record<string, (wiring: SlotWiring) => SlotView>} */
const KINDS = { ...fields, ...tables, switch: fields.choice };

/**
 * @param {HTMLElement} root which it fills
 * @param {ChapterPage} page
 * @param {ChapterScript} script
 * @param {(inputs: object) => void} ask
 * @param {(name: string, rest: HTMLElement) => HTMLElement} predict makes the question of a prediction, which shows the rest
 *   after a guess
 */
export function chapterText(root, { blocks, slots }, script, ask, predict) {
  /** @type {Record<string, any>} what was sent or received last */
  let now = {};
  /** @type {Record<string, any>} what is shown before the first result */
  let example = {};
  /** @type {Record<string, any> | null} */
  let result = null;
  /** @type {{name: string, view: SlotView}[]} */
  const views = [];
  /** @type {(() => void)[]} what draws the texts that hold values */
  const texts = [];
  /** @type {ReturnType<typeof tables.explanation> | null} */
  let line = null;
  let steps = 0; // numbered through the chapter

  /** @type {Controls} */
  const controls = {
    ask: (inputs) => ask({ ...now, ...inputs }),
    change(changes) {
      now = { ...now, ...changes };
      ask(now);
    },
    forget: () => views.forEach(({ view }) => view.forget?.()),
    restart() {
      controls.forget();
      now = {};
      ask(now);
    },
    latest: (name) => valueOf(now, name) ?? valueOf(result?.inputs ?? example, name), // one that was reset is unknown before the answer
    value: (name) => valueOf(result, name),
    say,
    point(name, cell, caption) {
      const explanation = result && script.explain?.(name, cell, result, caption);
      if (!explanation) return;
      line?.tell(withFormulas(explanation.text));
      views.forEach(({ name: other, view }) => view.light?.(explanation.lit[other] ?? script.lit?.(result)[other] ?? null));
    },
  };

  /** @param {Parts} parts @returns {Node[]} with the values of now */
  function say(parts) {
    return parts.flatMap((/** @type {any} */ part) => {
      if (typeof part === 'string') return [document.createTextNode(part)];
      if (part.slot) return valueNodes(controls.value(part.slot));
      if (part.token !== undefined) return [tokenName(part.token)];
      if (part.code) return [make('code', { text: part.code })];
      if (part.formula) {
        return [formula(part.formula.replace(/\{\{([\w.]+)\}\}/g, (_, name) => controls.value(name) ?? ''), true)];
      }
      if (part.link) return [make('a', { href: part.link, target: '_blank', rel: 'noopener noreferrer' }, ...say(part.parts))];
      return [make(part.strong ? 'strong' : 'em', {}, ...say(part.strong ?? part.em))];
    });
  }

  /** @param {any} value a text, {token}, {code}, {formula}, a list of these, or nothing: a `$` of a reader's is no formula */
  const valueNodes = (value) => (typeof value === 'object' && value ? say([value].flat()) : [document.createTextNode(String(value ?? ''))]);

  /** @param {'p' | 'td' | 'span' | 'li' | 'h3' | 'h4'} tag @param {Parts} parts @param {Record<string, string>} attributes */
  function text(tag, parts, attributes = {}) {
    if (!hasSlots(parts)) return explained(make(tag, attributes, ...say(parts)));
    const mayHide = tag !== 'td'; // a hidden cell would move its row's others
    const node = make(tag, { ...attributes, role: tag === 'p' && parts.length === 1 ? 'status' : null, hidden: mayHide });
    texts.push(() => {
      node.replaceChildren(...say(parts));
      node.hidden = mayHide && !node.textContent;
    });
    return node;
  }

  /** What is said in the case of now, or in several one after the other. @param {Block} block @param {string} style */
  function casesText({ parts: [{ slot }], cases }, style) {
    const node = make('p', { class: style, role: 'status' });
    texts.push(() => {
      const named = [controls.value(slot) ?? []].flat();
      node.replaceChildren(...named.flatMap((one, index) => [...(index ? [' '] : []), ...say(cases[one])]));
      node.hidden = !named.length;
    });
    return node;
  }

  /** @param {{slot: string, label: string}} part @param {Record<string, Parts>} cases */
  function slotView({ slot: name, label }, cases = {}) {
    const slot = slots[name];
    const wiring = { name, slot, label, cases, controls };
    if (slot.kind === 'text') return text('span', [{ slot: name }]);
    if (slot.kind === 'explanation') {
      line = tables.explanation(wiring);
      return line.node;
    }
    const view = slot.kind === 'drawing' ? script[name](wiring) : KINDS[slot.kind](wiring);
    views.push({ name, view });
    return view.node;
  }

  /** @param {Block} block */
  function row({ parts, cases, fold }) {
    const all = parts.filter((part) => part.slot);
    const nodes = parts.map((part) => (part.slot ? slotView(part, cases) : part)).filter((node) => node !== ' ');
    const tall = all.some(({ slot }) => ['table', 'numbers', 'drawing', 'records', 'bars', 'explanation'].includes(slots[slot].kind));
    if (tall && nodes.length === 1 && !fold) return nodes[0];
    const node = make('div', { class: tall ? 'at-tables' : `at-lesson-row${all.length < nodes.length ? ' at-lesson-sum' : ''}` }, ...nodes);
    if (!fold) return node;
    return make('details', { class: 'at-weights' }, make('summary', { text: all.map(({ label }) => label).join(', ') }), node);
  }

  /** Blocks, of which those behind a prediction wait for its guess. @param {Block[]} all @returns {HTMLElement[]} */
  function elements(all) {
    const at = all.findIndex(({ kind, parts }) => kind === 'row' && slots[parts[0].slot]?.kind === 'prediction');
    if (at < 0) return all.map(element);
    const next = all.findIndex(({ kind }, index) => index > at && (kind === 'part' || kind === 'step'));
    const end = next < 0 ? all.length : next;
    const rest = make('div', { class: 'at-predicted' }, ...elements(all.slice(at + 1, end)));
    return [...all.slice(0, at).map(element), predict(all[at].parts[0].slot, rest), rest, ...elements(all.slice(end))];
  }

  /** @param {Block} block @returns {HTMLElement} */
  function element(block) {
    const { kind, parts = [], quiet } = block;
    const style = quiet ? 'at-quiet' : 'at-lesson-text';
    switch (kind) {
      case 'part': return section(block);
      case 'step': return step(block);
      case 'row': return row(block);
      case 'heading': return text(block.tag, parts);
      case 'equation': return make('p', { class: 'at-row at-wrap at-equation' }, ...parts.map((one) => formula(one.formula)));
      case 'equations': return make('ul', { class: 'at-equations' }, ...block.items.map(([first, ...rest]) =>
        make('li', {}, formula(first.formula), make('span', { class: 'at-quiet' }, ...say(rest)))));
      case 'list': return make(block.ordered ? 'ol' : 'ul', { class: 'at-lesson-text at-listed' }, ...block.items.map((item) => text('li', item)));
      case 'columns': return make('div', { class: block.columns.length > 2 ? 'at-three' : 'at-two' },
        ...block.columns.map((column) => make('div', {}, ...column.map(element))));
      case 'prose_table': return proseTable(block);
      case 'code': return make('div', { class: 'at-md at-quiet at-references' }, ...block.items.map(codeReference));
      default: return block.cases ? casesText(block, style) : text('p', parts, { class: style });
    }
  }

  /** @param {Block} block */
  function section({ title, fold, blocks: inside }) {
    const name = title.map((one) => one.formula ?? one).join('');
    const children = elements(inside);
    if (fold) {
      return make('details', { class: 'at-lesson-part', open: fold === 'open' }, make('summary', {}, text('h3', title)), ...children);
    }
    const node = make('section', { class: 'at-lesson-part', 'aria-label': name }, text('h3', title), ...children);
    const shows = slotsIn(inside).filter((slot) => ['table', 'records', 'drawing', 'bars', 'tokens'].includes(slots[slot]?.kind));
    if (shows.length) {
      texts.push(() => { // where the model for it is missing, nothing is shown
        node.hidden = shows.every((slot) => controls.value(slot) === null);
      });
    }
    return node;
  }

  /** @param {Block} block */
  function step({ title, blocks: inside }) {
    const formulas = title.filter((one) => one.formula).map((one) => make('span', { class: 'at-formula at-quiet' }, formula(one.formula)));
    return make('div', { class: 'at-forward-step' },
      make('div', { class: 'at-forward-head' }, make('span', { class: 'at-forward-number at-sm at-quiet', text: ++steps }), text('h4', title.filter((one) => !one.formula)), ...formulas), ...elements(inside));
  }

  /** @param {Block} block */
  function proseTable({ head, rows }) {
    return make('div', { class: 'at-prose-table', tabindex: 0, role: 'group', 'aria-label': 'Table' },
      make('table', { class: 'at-small' },
        make('thead', {}, make('tr', {}, ...head.map((cell) => make('th', { scope: 'col', role: cell.length ? null : 'presentation' }, ...say(cell))))),
        make('tbody', {}, ...rows.map((cells) => make('tr', {}, ...cells.map((cell) => text('td', cell)))))));
  }

  root.replaceChildren(...elements(blocks));
  if (line) root.append(line.node); // it sticks to the bottom of all that it can explain

  /**
   * Show an input before its result is there.
   * @param {Record<string, any>} own the chapter’s own example @param {Record<string, any>} sent what was asked, instead
   */
  function put(own, sent) {
    now = sent;
    example = { ...own, ...sent };
    views.forEach(({ view }) => view.put?.(example));
  }

  /** @param {Record<string, any>} next */
  function draw(next) {
    result = next;
    now = next.inputs;
    views.forEach(({ name, view }) => {
      view.draw?.(next);
      view.put?.(now);
      if (next.hidden) view.node.hidden = next.hidden.includes(name);
    });
    texts.forEach((update) => update());
    views.filter(({ name }) => next.fixed?.includes(name)).forEach(({ view }) => fix(view.node));
    views.forEach(({ name, view }) => view.light?.(script.lit?.(next)[name] ?? null));
  }

  return { put, draw };
}

/** What can't be changed where nothing computes it. @param {HTMLElement} node */
function fix(node) {
  node.dataset.fixed = '';
  for (const input of [node, ...node.querySelectorAll('*')]) if ('disabled' in input) input.disabled = true;
}

/** A name in the code, with its source to unfold. @param {{path: string, name: string, source: string}} reference */
function codeReference({ path, name, source }) {
  const where = name ? [make('code', { text: name }), ' in ', make('code', { text: path })] : [make('code', { text: path })];
  if (!source) return make('p', {}, ...where);
  return make('details', {}, make('summary', {}, ...where), make('pre', { class: 'at-code-block', tabindex: 0, 'aria-label': name }, make('code', { text: source })));
}

/** @param {Parts} parts */
const hasSlots = (parts) => slotsIn(parts).length > 0 || parts.some((/** @type {any} */ part) => part.formula?.includes('{{'));

/** @param {any} value @returns {string[]} the names of the slots of a tree */
function slotsIn(value) {
  if (Array.isArray(value)) return value.flatMap(slotsIn);
  if (!value || typeof value !== 'object') return [];
  return [...(value.slot ? [value.slot] : []), ...Object.values(value).flatMap(slotsIn)];
}
