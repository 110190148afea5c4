/**
 * A soft alignment: the tokens of two texts, and a line for every attention weight between them, as strong as the weight.
 *
 * The texts stand one above the other or, if they are too long, side by side. The token under the pointer or with the focus
 * highlights those that it attends to, or that attend to it.
 */

import { strongest } from '../inspector/attention/attention.js';
import { around, make, makeSvg } from '../kit/js/dom.js';
import { onPlane } from '../kit/js/keys.js';
import { percent, visible, visibleText } from '../kit/js/text.js';

const FAINTEST = 0.04; // a weight that is not drawn: of ten tokens, less than half of an even share
const SIDES = { source: 0, text: 1 };

/** @param {string} text as it is read out, without the space before a word */
const wordOf = (text) => visibleText(text.replace(/^ (?=\S)/u, ''));

/** @param {{onPick: (index: number) => void}} wiring told of a token of the written text that was clicked */
export function makeAlignmentLines({ onPick }) {
  const lines = makeSvg('svg', { class: 'at-lines', 'aria-hidden': 'true' });
  const rows = ['Source', 'Translation'].map((name) => make('div', { class: 'at-row at-stretch at-gap-xs at-link-row', role: 'group', 'aria-label': name }));
  const readout = make('p', { class: 'at-sm at-quiet at-readout' });
  const plane = make('div', { class: 'at-plane' }, lines, ...rows);
  const node = make('div', { class: 'at-links' }, plane, readout);
  /** @type {HTMLElement[][]} the tokens of both */
  const tokens = [[], []];
  /** @type {string[][]} */
  const names = [[], []];
  /** @type {number[][]} how much each token of the text looked at each of the source */
  let weights = [];
  let shown = ['', '']; // the tokens of both, as they were drawn
  let title = '';
  let upright = false;
  let selected = -1;
  /** @type {{side: number, index: number} | null} */
  let lit = null;

  /** @param {{source: string[], text: string[], weights: number[][], title: string}} next */
  function draw(next) {
    ({ weights, title } = next);
    const wanted = [next.source, next.text].map((texts) => JSON.stringify(texts));
    if (wanted.some((texts, side) => texts !== shown[side])) {
      [next.source, next.text].forEach((texts, side) => {
        if (wanted[side] !== shown[side]) replace(side, texts);
      });
      shown = wanted;
      place();
    }
    tokens.forEach((row, side) => row.forEach((token, index) => token.setAttribute('aria-label', described(side, index))));
    light(lit);
  }

  /** Draw the tokens of one side anew; who stands on one of them stays there. @param {number} side @param {string[]} texts */
  function replace(side, texts) {
    const focused = tokens[side].findIndex((token) => token === document.activeElement);
    names[side] = texts.map(wordOf);
    tokens[side] = texts.map((text, index) => make('button', {
      type: 'button', class: 'at-link', dir: 'auto', tabindex: index ? -1 : 0, 'data-side': side, 'data-index': index,
    }, ...visible(text, true), make('i', { class: 'at-link-number' })));
    rows[side].replaceChildren(...tokens[side]);
    if (lit && !tokens[lit.side][lit.index]) lit = null;
    if (focused >= 0) focus(side, Math.min(focused, texts.length - 1));
  }

  /** One over the other where there is room. */
  function place() {
    plane.classList.remove('at-upright');
    upright = rows.some((row) => row.scrollWidth > row.clientWidth);
    plane.classList.toggle('at-upright', upright);
  }

  /** The others and the weights between, strongest first. @param {number} side @param {number} index */
  function partners(side, index) {
    const found = side === SIDES.text ? weights[index] ?? [] : weights.map((row) => row[index]);
    return strongest(Float32Array.from(found), found.length);
  }

  /** @param {number} side @param {number} index */
  function described(side, index) {
    const others = partners(side, index).filter(([, weight]) => weight >= FAINTEST).slice(0, 4)
      .map(([other, weight]) => `${names[1 - side][other]} ${percent(weight)}`);
    const looks = side === SIDES.text ? 'attends to' : 'is attended to by';
    return `${names[side][index]} ${looks} ${others.join(', ') || 'nothing in particular'}`;
  }

  /** @param {typeof lit} next */
  function light(next) {
    lit = next;
    const levels = new Map(lit ? partners(lit.side, lit.index) : []);
    tokens.forEach((row, side) => row.forEach((token, index) => {
      const weight = lit && side !== lit.side ? levels.get(index) ?? 0 : null;
      token.style.setProperty('--at-lit', String(0.6 * (weight ?? 0)));
      token.lastChild.textContent = weight !== null && weight >= 0.005 ? `${Math.round(100 * weight)}` : '';
      token.classList.toggle('at-lit', Boolean(lit) && side === lit.side && index === lit.index);
      token.classList.toggle('at-shown', side === SIDES.text && index === selected);
    }));
    readout.textContent = lit ? described(lit.side, lit.index) : title;
    connect();
  }

  function connect() {
    const ends = tokens.map((row, side) => row.map((token) => end(token, side)));
    lines.replaceChildren(...weights.flatMap((row, index) => row.flatMap((weight, key) => {
      if (weight < FAINTEST || !ends[0][key] || !ends[1][index]) return [];
      const near = !lit || lit.index === (lit.side === SIDES.text ? index : key);
      return [makeSvg('path', {
        d: curve(ends[0][key], ends[1][index]), 'stroke-width': (1 + 4 * weight).toFixed(1),
        'stroke-opacity': (near ? Math.min(1, 0.1 + weight) : 0.05).toFixed(2),
      })];
    })));
  }

  /** Where the lines of a token begin. @param {HTMLElement} token @param {number} side */
  function end(token, side) {
    const [left, top, wide, high] = [token.offsetLeft, token.offsetTop, token.offsetWidth, token.offsetHeight];
    if (upright) return [side ? left : left + wide, top + high / 2];
    return [left + wide / 2, side ? top : top + high];
  }

  /** @param {number[]} a @param {number[]} b */
  function curve([ax, ay], [bx, by]) {
    if (upright) return `M${ax} ${ay}C${(ax + bx) / 2} ${ay} ${(ax + bx) / 2} ${by} ${bx} ${by}`;
    return `M${ax} ${ay}C${ax} ${(ay + by) / 2} ${bx} ${(ay + by) / 2} ${bx} ${by}`;
  }

  /** @param {Event} event */
  const placeOf = (event) => {
    const token = around(event, '.at-link');
    return token && { side: Number(token.dataset.side), index: Number(token.dataset.index) };
  };

  /** @param {number} side @param {number} index */
  function focus(side, index) {
    const token = tokens[side][index];
    if (!token) return;
    for (const other of tokens[side]) other.tabIndex = other === token ? 0 : -1;
    token.focus();
  }

  plane.addEventListener('pointerover', (event) => light(placeOf(event)));
  plane.addEventListener('pointerleave', () => light(null));
  plane.addEventListener('focusin', (event) => light(placeOf(event)));
  plane.addEventListener('focusout', () => light(null));
  plane.addEventListener('click', (event) => {
    const at = placeOf(event);
    if (at?.side === SIDES.text) onPick(at.index);
  });
  plane.addEventListener('keydown', (event) => {
    const at = placeOf(event);
    const direction = onPlane(event.key);
    if (!at || !direction) return;
    const [along, across] = upright ? [direction[1], direction[0]] : direction;
    if (along) focus(at.side, at.index + along);
    else if (across === (at.side ? -1 : 1)) focus(1 - at.side, partners(at.side, at.index)[0]?.[0] ?? 0);
    event.preventDefault();
  });

  let width = 0;
  new ResizeObserver(() => {
    if (width === plane.clientWidth) return;
    width = plane.clientWidth;
    place();
    light(lit);
  }).observe(plane);

  return {
    node, draw,
    /** @param {number} index of the written text; -1 for none */
    select(index) {
      selected = index;
      light(lit);
    },
  };
}
