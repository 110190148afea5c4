/**
 * The map as a drawing: the parts of a model in boxes, from the bottom to the top as in the paper, with the stream that runs
 * past them. The arrow keys move between the parts, and Enter opens one; all are one tab stop.
 *
 * @typedef {{key: string, kind: string, title: string}} MapPart
 * @typedef {{title: string, repeated: boolean, rows: MapPart[][]}} MapGroup
 * @typedef {{name: string, title: string, layers: number, groups: MapGroup[]}} MapSide
 * @typedef {{shape: string, parameters: number}} MapLabel
 * @typedef {{key: string, part: MapPart, x: number, y: number, width: number}} Box
 */

import { makeSvg } from '../../kit/js/dom.js';
import { onPlane, presses } from '../../kit/js/keys.js';
import { counted } from '../../kit/js/text.js';

const BOX = 42; // pixels, the height of a box
const GAP = 16; // between rows, for the arrows
const HEAD = 32; // for the name of a side
const FRAME = 22; // for the name of a group
const WIDEST = 420; // a side
const NARROW = 230; // a side with less room around its boxes
const DIGIT = 6.3; // the width of one

/**
 * Where everything stands. All rows are counted from the bottom.
 * @param {MapSide[]} sides @param {number} width of the drawing
 */
export function layOut(sides, width) {
  const between = width / sides.length < NARROW ? 16 : 28;
  const column = Math.min(WIDEST, (width - between * (sides.length - 1)) / sides.length);
  const heights = sides.map(({ groups }) => HEAD + groups.reduce((sum, group) => sum + groupHeight(group), 0));
  const height = Math.max(...heights) + GAP;
  return {
    width: column * sides.length + between * (sides.length - 1), height, between,
    sides: sides.map((side, index) => placed(side, index * (column + between), column, height)),
  };
}

/** @param {MapGroup} group */
const groupHeight = ({ title, rows }) => rows.length * (BOX + GAP) + (title ? FRAME : 0);

/** @param {MapSide} side @param {number} left @param {number} width @param {number} height */
function placed(side, left, width, height) {
  let bottom = height;
  const isNarrow = width < NARROW;
  const stream = isNarrow ? 14 : 20; // room for it beside the boxes
  const [x, inner, apart] = [left + stream, width - stream - (isNarrow ? 4 : 8), isNarrow ? 5 : 10];
  const groups = side.groups.map((group) => {
    const from = bottom;
    const rows = group.rows.map((parts) => {
      bottom -= BOX + GAP;
      const each = (inner - apart * (parts.length - 1)) / parts.length;
      return parts.map((part, index) => ({ key: part.key, part, x: x + index * (each + apart), y: bottom, width: each }));
    });
    bottom -= group.title ? FRAME : 0;
    return { group, rows, top: bottom, bottom: from };
  });
  return { side, left, width, stream, top: bottom, groups };
}

/**
 * @param {MapSide[]} sides
 * @param {{width: number, labels: Record<string, MapLabel>, chosen: string, layer: number, pick: (key: string) => void}} wiring
 */
export function mapDrawing(sides, { width, labels, chosen, layer, pick }) {
  const plan = layOut(sides, width);
  /** @type {{box: Box, node: SVGElement}[]} */
  const boxes = [];
  const parts = plan.sides.flatMap((one) => sideNodes(one, layer, (box) => {
    const node = boxNode(box, labels[box.key], box.key === chosen);
    boxes.push({ box, node });
    return node;
  }));
  const svg = makeSvg('svg', {
    class: 'at-model-map', width: plan.width, height: plan.height, viewBox: `0 0 ${plan.width} ${plan.height}`, role: 'group',
    'aria-label': 'Map of the model',
  }, arrowHead(), ...crossing(plan), ...parts);
  svg.addEventListener('click', ({ target }) => {
    const key = target instanceof Element && target.closest('[data-part]')?.getAttribute('data-part');
    if (key) pick(key);
  });
  svg.addEventListener('keydown', (event) => {
    const here = boxes.find(({ node }) => node === document.activeElement);
    if (!here) return;
    const delta = onPlane(event.key);
    if (!delta && !presses(event.key)) return;
    event.preventDefault();
    if (!delta) return pick(here.box.key);
    focusBox(svg, boxes[nearest(boxes.map(({ box }) => box), boxes.indexOf(here), delta)].box.key);
  });
  return svg;
}

/** Focus a part, from which the arrow keys go on then. @param {Element} drawing @param {string} key */
export function focusBox(drawing, key) {
  const boxes = /** @type {NodeListOf<SVGElement>} */ (drawing.querySelectorAll('[data-part]'));
  const goal = [...boxes].find((node) => node.dataset.part === key);
  if (!goal) return;
  boxes.forEach((node) => node.setAttribute('tabindex', String(node === goal ? 0 : -1)));
  goal.focus();
}

/**
 * The box that an arrow key leads to: the nearest in its direction, or the same where there is none.
 * @param {{x: number, y: number, width: number}[]} boxes @param {number} here @param {[number, number]} delta
 */
export function nearest(boxes, here, [right, down]) {
  const from = boxes[here];
  let [best, least] = [here, Infinity];
  boxes.forEach((box, index) => {
    const [across, along] = [box.x + box.width / 2 - (from.x + from.width / 2), box.y - from.y];
    const ahead = across * right + along * down;
    const isApart = box.x > from.x + from.width || from.x > box.x + box.width;
    const far = ahead + (down ? Math.abs(across) / 10 : 3 * Math.abs(along));
    if (ahead > 1 && isApart === !down && far < least) [best, least] = [index, far];
  });
  return best;
}

/** @param {Box} box @param {MapLabel} label @param {boolean} isChosen */
function boxNode({ key, part, x, y, width }, { shape, parameters }, isChosen) {
  const middle = x + width / 2;
  const number = parameters ? counted.format(parameters) : '';
  const notes = [shape, number].filter(Boolean);
  const note = notes.join(' · ').length * DIGIT < width ? notes.join(' · ') : notes.at(-1) ?? '';
  const side = key.split('.')[0];
  return makeSvg('g', {
    class: 'at-model-map-box', 'data-part': key, 'data-learns': parameters ? 'yes' : 'no', role: 'button', tabindex: isChosen ? 0 : -1,
    'aria-pressed': String(isChosen), 'aria-label': `${part.title} ${note}${number ? ' parameters' : ', no parameters'}, ${side}`,
  }, makeSvg('rect', { x, y, width, height: BOX, rx: 6 }),
  makeSvg('text', { x: middle, y: y + 17, class: 'at-model-map-title', ...fitted(part.title, width - 6) }, part.title), ' ',
  makeSvg('text', { x: middle, y: y + 33, class: 'at-model-map-note' }, note));
}

/** What makes a title fit where it is too long. @param {string} text @param {number} room @returns {Record<string, string | number>} */
function fitted(text, room) {
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width > room ? { textLength: room, lengthAdjust: 'spacingAndGlyphs' } : {};
}

const arrowHead = () => makeSvg('defs', {}, makeSvg('marker', {
  id: 'at-model-map-arrow', viewBox: '0 0 6 6', refX: 5, refY: 3, markerWidth: 6, markerHeight: 6, orient: 'auto',
}, makeSvg('path', { d: 'M0 0 6 3 0 6z' })));

/** @param {(string | number)[]} steps @param {string} kind */
const path = (steps, kind) => makeSvg('path', { d: steps.join(' '), class: kind, 'marker-end': 'url(#at-model-map-arrow)' });

/** @param {Box} box */
const centreOf = ({ x, width }) => x + width / 2;

/** @param {ReturnType<typeof placed>} placedSide @param {number} layer @param {(box: Box) => SVGElement} draw */
function sideNodes({ side, left, width, stream, top, groups }, layer, draw) {
  /** @type {SVGElement[]} */
  const nodes = [makeSvg('text', { x: left + width / 2, y: top - 13, class: 'at-model-map-side' },
    side.layers > 1 ? `${side.title}, layer ${Math.min(layer, side.layers)} of ${side.layers}` : side.title)];
  const repeated = groups.filter(({ group }) => group.repeated);
  if (repeated.length) {
    const [high, low] = [repeated.at(-1).top, repeated[0].bottom];
    nodes.push(makeSvg('rect', { x: left, y: high - 1, width, height: low - high - GAP / 2 + 2, rx: 10, class: 'at-model-map-layer' }));
  }
  /** @type {Box | null} */
  let before = null;
  for (const { group, rows, top: high, bottom } of groups) {
    if (group.title) nodes.push(makeSvg('text', { x: left + stream, y: high + 15, class: 'at-model-map-group' }, group.title));
    const add = rows.flat().find((box) => box.part.kind.endsWith('_add'));
    if (add && before) { // the stream runs past the group
      const [from, x] = [bottom - GAP / 2 + 2, left + stream / 2 - 1];
      nodes.push(path([`M${centreOf(before)} ${from} H${x} V${add.y + BOX / 2} H${add.x - 2}`], 'at-model-map-stream'));
    }
    for (const row of rows) {
      const first = row[0];
      if (before) {
        const turn = first.y + BOX + GAP / 2;
        nodes.push(path([`M${centreOf(before)} ${before.y} V${turn} H${centreOf(first)} V${first.y + BOX + 2}`], 'at-model-map-flow'));
      }
      row.slice(1).forEach((box, index) => nodes.push(path([`M${row[index].x + row[index].width} ${box.y + BOX / 2} H${box.x - 1}`], 'at-model-map-flow')));
      before = row.at(-1);
    }
  }
  return [...nodes, ...groups.flatMap(({ rows }) => rows.flat().map(draw))];
}

/** The way from the encoder to the decoder's keys and values. @param {ReturnType<typeof layOut>} plan */
function crossing({ sides, between }) {
  if (sides.length < 2) return [];
  const [encoder, decoder] = sides;
  const last = encoder.groups.at(-1).rows.at(-1).at(-1);
  const goal = decoder.groups.flatMap(({ rows }) => rows.flat()).find(({ part }) => ['cross_keys_values', 'cross_projections'].includes(part.kind));
  if (!goal) return [];
  const [over, x] = [encoder.top - 6, encoder.left + encoder.width + between / 2];
  return [path([`M${centreOf(last)} ${last.y} V${over} H${x} V${goal.y + BOX / 2} H${goal.x - 2}`], 'at-model-map-cross')];
}
