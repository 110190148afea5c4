/**
 * A soft alignment: the tokens of two texts, and a line for every attention weight between them, as strong as the weight.
 *
 * The texts stand one above the other or, if they are too long, side by side. The token under the pointer or with the focus
 * highlights the tokens that it attends to, or that attend to it.
 */

import { strongest } from '../inspector/attention/attention.js';
import { around, make, makeSvg } from '../kit/js/dom.js';
import { onPlane } from '../kit/js/keys.js';
import { percent, visible, visibleText } from '../kit/js/text.js';

const FAINTEST = 0.04; // a weight that is not drawn: of ten tokens, less than half of an even share
const SIDES = { source: 0, text: 1 };

/** @param {string} text as it is read out, without the space before a word */
const wordOf = (text) => visibleText(text.replace(/^ (?=\S)/u, ''));

/** @param {{onPick: (index: number) => void}} wiring `onPick` is called when a token of the written text is clicked */
export function makeAlignmentLines({ onPick }) {
  const lines = makeSvg('svg', { class: 'at-lines', 'aria-hidden': 'true' });
  const rows = ['Source', 'Translation'].map((name) => make('div', { class: 'at-row at-stretch at-gap-xs at-link-row', role: 'group', 'aria-label': name }));
  const readout = make('p', { class: 'at-sm at-quiet at-readout' });
  const plane = make('div', { class: 'at-plane at-shaded-ends' }, lines, ...rows);
  const node = make('div', { class: 'at-links' }, plane, readout);
  /** @type {HTMLElement[][]} the tokens of both */
  const tokens = [[], []];
  /** @type {string[][]} */
  const names = [[], []];
  /** @type {number[][]} how much each token of the text looked at each of the source */
  let weights = [];
  let drawnKeys = ['', '']; // of both texts, as they were drawn
  let title = '';
  let isUpright = false;
  let selected = -1;
  /** @type {{side: number, index: number} | null} */
  let highlighted = null;

  /** @param {{source: string[], text: string[], weights: number[][], title: string}} next */
  function draw(next) {
    ({ weights, title } = next);
    const keys = [next.source, next.text].map((texts) => JSON.stringify(texts));
    const changedSides = [0, 1].filter((side) => keys[side] !== drawnKeys[side]);
    for (const side of changedSides) replace(side, side === SIDES.source ? next.source : next.text);
    drawnKeys = keys;
    if (changedSides.length) arrange();
    tokens.forEach((row, side) => row.forEach((token, index) => token.setAttribute('aria-label', describe(side, index))));
    highlight(highlighted);
  }

  /** Draw the tokens of one side again; a focused one keeps the focus. @param {number} side @param {string[]} texts */
  function replace(side, texts) {
    const focused = tokens[side].findIndex((token) => token === document.activeElement);
    names[side] = texts.map(wordOf);
    tokens[side] = texts.map((text, index) => make('button', {
      type: 'button', class: 'at-link', dir: 'auto', tabindex: index ? -1 : 0, 'data-side': side, 'data-index': index,
    }, ...visible(text, true), make('i', { class: 'at-link-number' })));
    rows[side].replaceChildren(...tokens[side]);
    if (highlighted && !tokens[highlighted.side][highlighted.index]) highlighted = null;
    if (focused >= 0) focus(side, Math.min(focused, texts.length - 1));
  }

  /** Put the texts one above the other if there is room. */
  function arrange() {
    plane.classList.remove('at-upright');
    isUpright = rows.some((row) => row.scrollWidth > row.clientWidth);
    plane.classList.toggle('at-upright', isUpright);
  }

  /** The tokens of the other text and the weights between, strongest first. @param {number} side @param {number} index */
  function partners(side, index) {
    const partnerWeights = side === SIDES.text ? weights[index] ?? [] : weights.map((row) => row[index]);
    return strongest(Float32Array.from(partnerWeights), partnerWeights.length);
  }

  /** @param {number} side @param {number} index */
  function describe(side, index) {
    const others = partners(side, index).filter(({ weight }) => weight >= FAINTEST).slice(0, 4)
      .map(({ key, weight }) => `${names[1 - side][key]} ${percent(weight)}`);
    const verb = side === SIDES.text ? 'attends to' : 'is attended to by';
    return `${names[side][index]} ${verb} ${others.join(', ') || 'nothing in particular'}`;
  }

  /** @param {typeof highlighted} place */
  function highlight(place) {
    highlighted = place;
    const partnerWeights = new Map(place ? partners(place.side, place.index).map(({ key, weight }) => [key, weight]) : []);
    tokens.forEach((row, side) => row.forEach((token, index) => {
      const weight = place && side !== place.side ? partnerWeights.get(index) ?? 0 : null;
      token.style.setProperty('--at-lit', String(0.6 * (weight ?? 0)));
      token.lastChild.textContent = weight !== null && weight >= 0.005 ? `${Math.round(100 * weight)}` : '';
      token.classList.toggle('at-lit', side === place?.side && index === place.index);
      token.classList.toggle('at-shown', side === SIDES.text && index === selected);
    }));
    readout.textContent = place ? describe(place.side, place.index) : title;
    connect();
  }

  function connect() {
    const [sourceEnds, textEnds] = tokens.map((row, side) => row.map((token) => endOf(token, side)));
    lines.replaceChildren(...weights.flatMap((row, index) => row.flatMap((weight, key) => {
      if (weight < FAINTEST || !sourceEnds[key] || !textEnds[index]) return [];
      const isStrong = !highlighted || highlighted.index === (highlighted.side === SIDES.text ? index : key);
      return [makeSvg('path', {
        d: curve(sourceEnds[key], textEnds[index]), 'stroke-width': (1 + 4 * weight).toFixed(1),
        'stroke-opacity': (isStrong ? Math.min(1, 0.1 + weight) : 0.05).toFixed(2),
      })];
    })));
  }

  /** Where the lines of a token begin. @param {HTMLElement} token @param {number} side */
  function endOf({ offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height }, side) {
    if (isUpright) return { x: side ? left : left + width, y: top + height / 2 };
    return { x: left + width / 2, y: side ? top : top + height };
  }

  /** @param {{x: number, y: number}} from @param {{x: number, y: number}} to */
  function curve(from, to) {
    const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
    const bend = isUpright ? `${x} ${from.y} ${x} ${to.y}` : `${from.x} ${y} ${to.x} ${y}`;
    return `M${from.x} ${from.y}C${bend} ${to.x} ${to.y}`;
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

  for (const type of ['pointerover', 'focusin']) plane.addEventListener(type, (event) => highlight(placeOf(event)));
  for (const type of ['pointerleave', 'focusout']) plane.addEventListener(type, () => highlight(null));
  plane.addEventListener('click', (event) => {
    const place = placeOf(event);
    if (place?.side === SIDES.text) onPick(place.index);
  });
  plane.addEventListener('keydown', (event) => {
    const place = placeOf(event);
    const direction = onPlane(event.key);
    if (!place || !direction) return;
    const [along, across] = isUpright ? direction.toReversed() : direction;
    if (along) focus(place.side, place.index + along);
    else if (across === (place.side ? -1 : 1)) focus(1 - place.side, partners(place.side, place.index)[0]?.key ?? 0);
    event.preventDefault();
  });

  let width = 0;
  new ResizeObserver(() => {
    if (width === plane.clientWidth) return;
    width = plane.clientWidth;
    plane.style.setProperty('--drawn', `${width}px`); // paper has no time to draw it again
    arrange();
    highlight(highlighted);
  }).observe(plane);

  return {
    node, draw,
    /** @param {number} index of the written text; -1 for none */
    select(index) {
      if (selected === index) return; // most often another tab's token was selected
      selected = index;
      highlight(highlighted);
    },
  };
}
