/**
 * The strip: every token of the context as a box, one of them selected. Tokens that only together form a character stand
 * in a frame with it.
 *
 * It knows texts, kinds, probabilities and shades; what a selection means is the inspector's business.
 *
 * @typedef {{text: string, kind: string, probability: number | null}} ShownToken
 */

import { around, make } from '../kit/js/dom.js';
import { alongRow } from '../kit/js/keys.js';
import { colourMode } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';
import { level, percent, visible, visibleText } from '../kit/js/text.js';
import { characterGroups } from './characters.js';

const KINDS = { control: 'special token', prompt: 'prompt', generated: 'generated' };

/** @param {(index: number) => void} onSelect a token was clicked or reached with the keys */
export function makeStrip(onSelect) {
  const node = make('div', { class: 'at-strip at-scroll', role: 'listbox', 'aria-label': 'Tokens of the context', tabindex: -1 });
  /** @type {HTMLElement[]} */
  const boxes = [];
  /** @type {ShownToken[]} what each box shows */
  let shown = [];
  /** @type {Map<string, HTMLElement>} frames around the parts of a character, by what is in them */
  let groups = new Map();
  let selected = -1;
  let shaded = false;

  node.addEventListener('click', (event) => {
    const box = around(event, '[role="option"]') ?? around(event, '.at-group')?.querySelector('[role="option"]');
    if (box) onSelect(Number(box.dataset.index));
  });
  node.addEventListener('keydown', (event) => {
    const goal = goalOf(event.key);
    if (goal === null) return;
    event.preventDefault();
    if (goal < 0 || goal >= boxes.length) return;
    onSelect(goal);
    boxes[goal].focus({ preventScroll: true });
  });

  /** @param {string} key @returns {number | null} the index it leads to */
  function goalOf(key) {
    const here = Math.max(0, selected);
    if (key === 'ArrowUp') return inNextLine(here, -1);
    if (key === 'ArrowDown') return inNextLine(here, 1);
    return alongRow(key, here, boxes.length);
  }

  /** The box above or below. @param {number} here @param {1 | -1} delta */
  function inNextLine(here, delta) {
    const middle = (box) => box.offsetLeft + box.offsetWidth / 2;
    let line = null;
    let best = here;
    for (let index = here + delta; boxes[index]; index += delta) {
      const top = boxes[index].offsetTop;
      if (Math.abs(top - boxes[here].offsetTop) < 4) continue;
      line ??= top;
      if (Math.abs(top - line) >= 4) break;
      const gain = (box) => Math.abs(middle(box) - middle(boxes[here]));
      if (best === here || gain(boxes[index]) < gain(boxes[best])) best = index;
    }
    return best;
  }

  /** Show these tokens, touching only those that differ. @param {ShownToken[]} tokens */
  function update(tokens) {
    const fresh = [];
    tokens.forEach((token, index) => {
      const old = shown[index];
      if (old && old.text === token.text && old.kind === token.kind && old.probability === token.probability) return;
      const box = makeBox(token, index);
      if (boxes[index]) boxes[index].replaceWith(box);
      else fresh.push(box);
      boxes[index] = box;
      if (index === selected) selected = -1;
    });
    for (const box of boxes.splice(tokens.length)) box.remove();
    if (selected >= boxes.length) selected = -1;
    node.append(...fresh);
    shown = tokens.slice();
    group();
  }

  /** Frame the tokens that only together form a character, touching only what differs. */
  function group() {
    const wanted = new Map(characterGroups(shown).map((one) => [JSON.stringify(one), one]));
    for (const [key, frame] of groups) {
      if (!wanted.has(key)) frame.replaceWith(...frame.querySelectorAll('.at-box'));
    }
    groups = new Map(Array.from(wanted, ([key, { from, end, text }]) => {
      const known = groups.get(key);
      if (known) return [key, known];
      const parts = boxes.slice(from, end);
      const name = `${parts.length} tokens together form ${visibleText(text)}`;
      const frame = make('span', { class: 'at-group', role: 'group', 'aria-label': name, title: name },
        make('span', { class: 'at-character', 'aria-hidden': 'true' }, ...visible(text)));
      parts[0].before(frame);
      frame.append(...parts);
      return [key, frame];
    }));
  }

  /** @param {number} index */
  function select(index) {
    if (selected === index) return;
    const focused = boxes[selected] === document.activeElement;
    mark(boxes[selected], false);
    mark(boxes[index], true);
    selected = boxes[index] ? index : -1;
    if (focused) boxes[selected]?.focus({ preventScroll: true });
  }

  /** Scroll the strip, never the page, to the selected token; this lays the page out. */
  function reveal() {
    const box = boxes[selected];
    if (!box) return;
    const top = box.offsetTop;
    if (top < node.scrollTop + 4) node.scrollTop = top - 8;
    else if (top + box.offsetHeight > node.scrollTop + node.clientHeight - 4) {
      node.scrollTop = top + box.offsetHeight + 8 - node.clientHeight;
    }
  }

  /** @param {number[] | null} levels how much the selected step looked at each token; null for no shading */
  function shade(levels) {
    if (!levels && !shaded) return;
    boxes.forEach((box, index) => {
      const wanted = levels ? String(levels[index] ?? 0) : undefined;
      if (box.dataset.attention === wanted) return;
      if (wanted === undefined) delete box.dataset.attention;
      else box.dataset.attention = wanted;
    });
    shaded = Boolean(levels);
  }

  return { node, update, select, reveal, shade };
}

/** @param {ShownToken} token @param {number} index */
function makeBox({ text, kind, probability: p }, index) {
  const name = visibleText(text) + (p === null ? ` · ${KINDS[kind]}` : ` · ${percent(p)}`);
  return make('span', {
    class: `at-box at-${kind}`, role: 'option', tabindex: -1, dir: 'auto', title: name, 'aria-label': name,
    'aria-selected': 'false', 'data-index': index, 'data-level': p === null ? null : level(p),
    'data-space': /^ \S/u.test(text),
  }, ...visible(text, true));
}

/** @param {HTMLElement | undefined} box @param {boolean} on */
function mark(box, on) {
  if (!box) return;
  box.setAttribute('aria-selected', String(on));
  box.tabIndex = on ? 0 : -1;
}

/** The legend and the switch of the colours; both components follow it. */
export function makeColours() {
  // One over the other, so that the switch stays where it is.
  const legends = Object.entries({ probability: ['unlikely', 'likely'], attention: ['ignored', 'attended to'] }).map(
    ([mode, [low, high]]) => make('span', { class: `at-row at-gap-sm at-sm at-quiet at-legend-${mode}` },
      low, make('i', { class: `at-ramp at-ramp-${mode}` }), high));
  const choices = /** @type {const} */ (['probability', 'attention', 'off']).map((mode) => {
    const input = make('input', { type: 'radio', name: 'attend-colour', value: mode, class: 'at-hidden' });
    input.checked = remembered('colour', 'probability') === mode;
    input.addEventListener('change', () => {
      remember('colour', mode);
      colourMode.publish(mode);
    });
    return make('label', {}, input, make('span', { text: mode }));
  });
  const title = make('legend', { class: 'at-hidden', text: 'Colour tokens by' });
  return make('div', { class: 'at-row at-wrap at-end at-colours' },
    make('span', { class: 'at-legends', 'aria-hidden': 'true' }, ...legends),
    make('fieldset', { class: 'at-switch' }, title, ...choices));
}
