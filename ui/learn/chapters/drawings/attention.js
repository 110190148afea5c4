/**
 * Attention by hand: the word vectors as arrows.
 */

/** @import { SlotView } from '../../text/slot_values.js' */

import { make, makeSvg } from '../../../kit/js/dom.js';

/** The word vectors, and what the first of them becomes in each way. @returns {SlotView} */
export function plane() {
  const node = make('div', { class: 'at-arrows-plot' });
  return { node, draw: (result) => node.replaceChildren(arrowsPicture(result)) };
}

function arrowsPicture({ pair, vectors, division, softmax }) {
  const words = pair.split(' ');
  const arrows = [...vectors.map((point, index) => [point, words[index], 'at-arrow-word']),
    [softmax.vector[0], 'by softmax', 'at-arrow-softmax'], [division.vector[0], 'by division', 'at-arrow-new']];
  const across = [0, ...arrows.map(([[x]]) => x)];
  const down = [0, ...arrows.map(([[, y]]) => y)];
  const left = Math.min(...across);
  const low = Math.min(...down);
  const scale = Math.max(1e-9, Math.max(...across) - left, Math.max(...down) - low); // the same both ways
  const at = ([x, y]) => [70 + ((x - left) / scale) * 180, 205 - ((y - low) / scale) * 180];
  const [zero, ground] = at([0, 0]);
  const svg = makeSvg('svg', { viewBox: '0 0 320 225', role: 'img', 'aria-label': 'The word vectors as arrows' },
    makeSvg('line', { x1: 60, y1: ground, x2: 300, y2: ground, class: 'at-arrows-axis' }),
    makeSvg('line', { x1: zero, y1: 15, x2: zero, y2: 215, class: 'at-arrows-axis' }));
  arrows.forEach(([point, name, kind], index) => {
    const [x, y] = at(point);
    const isWord = index < words.length; // beside its arrow's head, a mixture above it: each on a side of its own
    const leftwards = name === 'by softmax' || (isWord && point[0] < (left + Math.max(...across)) / 2);
    svg.append(makeSvg('line', { x1: zero, y1: ground, x2: x, y2: y, class: kind }),
      makeSvg('circle', { cx: x, cy: y, r: 3.5, class: kind }),
      makeSvg('text', {
        x: x + (leftwards ? -1 : 1) * (isWord ? 8 : 2), y: y + (isWord ? 5 : -9), class: kind,
        'text-anchor': leftwards ? 'end' : 'start',
      }, name));
  });
  return svg;
}
