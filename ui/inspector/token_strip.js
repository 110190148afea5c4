/**
 * The strip: every token of the context as a box, one of them selected. Tokens that only together form a character stand in a
 * frame with that character. The strip does not know what a selection means.
 *
 * @typedef {{text: string, kind: string, probability: number | null}} ShownToken
 */

import { around, make } from '../kit/js/dom.js';
import { alongRow } from '../kit/js/keys.js';
import { colourMode } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';
import { level, percent, shadeByAttention, visible, visibleText } from '../kit/js/text.js';
import { makeRadioSwitch } from '../kit/parts/radio_switch.js';
import { characterGroups } from './characters.js';

const KINDS = { control: 'special token', prompt: 'prompt', generated: 'generated' };

/**
 * @param {(index: number) => void} onSelect called when a token is clicked or reached by the keyboard
 * @param {string} label for screen readers
 */
export function makeStrip(onSelect, label = 'Tokens of the context') {
  const node = make('div', { class: 'at-strip at-scroll at-shaded-ends', role: 'listbox', 'aria-label': label, tabindex: -1 });
  /** @type {HTMLElement[]} */
  const boxes = [];
  /** @type {ShownToken[]} what each box shows */
  let drawn = [];
  /** @type {Map<string, HTMLElement>} around the parts of a character, by what is in them */
  let frames = new Map();
  let selected = -1;
  let isFocusLost = false; // with a box that was drawn anew, such as a token of the prompt that is explained now
  let isShaded = false;

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
    isFocusLost ||= hasFocus();
    tokens.forEach((token, index) => {
      const old = drawn[index];
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
    drawn = tokens.slice();
    frameCharacters();
    isFocusLost &&= !hasFocus();
  }

  const hasFocus = () => boxes.some((box) => box === document.activeElement);

  /** Frame the tokens that only together form a character, touching only what differs. */
  function frameCharacters() {
    const groups = new Map(characterGroups(drawn).map((group) => [JSON.stringify(group), group]));
    for (const [key, frame] of frames) {
      if (!groups.has(key)) frame.replaceWith(...frame.querySelectorAll('.at-box'));
    }
    frames = new Map(Array.from(groups, ([key, { from, end, text }]) => {
      if (frames.has(key)) return [key, frames.get(key)];
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
    const focused = isFocusLost || boxes[selected] === document.activeElement;
    isFocusLost = false;
    if (selected === index) return;
    mark(boxes[selected], false);
    mark(boxes[index], true);
    selected = boxes[index] ? index : -1;
    if (focused) boxes[selected]?.focus({ preventScroll: true });
  }

  /** Scroll the strip, but never the page, to the selected token. This lays the page out. */
  function reveal() {
    const box = boxes[selected];
    if (!box) return;
    const top = box.offsetTop;
    if (top < node.scrollTop + 4) node.scrollTop = top - 8;
    else if (top + box.offsetHeight > node.scrollTop + node.clientHeight - 4) {
      node.scrollTop = top + box.offsetHeight + 8 - node.clientHeight;
    }
  }

  /** @param {number[] | null} levels how much the selected step attends to each token; null for no shading */
  function shade(levels) {
    if (levels || isShaded) shadeByAttention(boxes, levels);
    isShaded = Boolean(levels);
  }

  new ResizeObserver(reveal).observe(node); // its lines break elsewhere, so the selected token moves

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

/** @param {HTMLElement | undefined} box @param {boolean} isSelected */
function mark(box, isSelected) {
  if (!box) return;
  box.setAttribute('aria-selected', String(isSelected));
  box.tabIndex = isSelected ? 0 : -1;
}

/** The legend and the switch of the colours, which the conversation follows, too. */
export function makeColours() {
  // The legends lie over each other, so that the switch stays in its place.
  const legends = Object.entries({ probability: ['unlikely', 'likely'], attention: ['ignored', 'attended to'] }).map(
    ([mode, [low, high]]) => make('span', { class: `at-row at-gap-sm at-sm at-quiet at-legend-${mode}` },
      low, make('i', { class: `at-ramp at-ramp-${mode}` }), high));
  const labels = { probability: 'probability', attention: 'attention', off: 'off' };
  const publish = (mode) => {
    remember('colour', mode);
    colourMode.publish(mode);
  };
  const modes = makeRadioSwitch('attend-colour', 'Colour tokens by', labels, publish);
  const chosen = modes.inputs[remembered('colour', 'probability')];
  if (chosen) chosen.checked = true;
  const node = make('div', { class: 'at-row at-wrap at-end at-colours' },
    make('span', { class: 'at-legends', 'aria-hidden': 'true' }, ...legends), modes.node);
  /** @param {keyof typeof labels} mode */
  function choose(mode) {
    modes.choose(mode);
    publish(mode);
  }
  return { node, choose };
}
