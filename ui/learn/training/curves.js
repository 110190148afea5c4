/**
 * Losses as curves: of the steps taken in the chapter, and of the trainings that made the page's models.
 */

import { make, makeSvg } from '../../kit/js/dom.js';
import { counted } from '../../kit/js/text.js';

const [WIDE, HIGH] = [420, 120];

/**
 * @param {{x: number, y: number}[]} points y from 0
 * @param {{label: string, from: string, to: string, marked: boolean}} words `marked`: each point has a dot
 */
function curve(points, { label, from, to, marked }) {
  const most = Math.max(...points.map(({ y }) => y));
  const last = points.at(-1).x;
  const across = (x) => 30 + ((WIDE - 40) * x) / Math.max(1, last);
  const up = (y) => HIGH - 18 - ((HIGH - 30) * y) / most;
  const path = points.map(({ x, y }) => `${across(x).toFixed(1)},${up(y).toFixed(1)}`).join(' ');
  const text = (x, y, content, anchor) => {
    const node = makeSvg('text', { x, y, 'text-anchor': anchor });
    node.textContent = content;
    return node;
  };
  return makeSvg('svg', { viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img', 'aria-label': label },
    makeSvg('line', { x1: 30, x2: WIDE - 10, y1: up(0), y2: up(0), class: 'at-axis-line' }),
    makeSvg('polyline', { points: path }),
    ...(marked ? points.map(({ x, y }) => makeSvg('circle', { cx: across(x), cy: up(y), r: 3 })) : []),
    text(26, up(most) + 4, most.toFixed(1), 'end'), text(26, up(0) + 4, '0', 'end'),
    text(30, HIGH - 4, from, 'start'), text(across(last), HIGH - 4, to, 'end'));
}

/** The loss before the first step and after each. @param {number[]} losses */
export function lossCurve(losses) {
  const steps = losses.length - 1;
  return curve(losses.map((y, x) => ({ x, y })), {
    label: `Loss over ${steps} steps`, from: 'before', to: `after step ${steps}`, marked: losses.length <= 30,
  });
}

/** A recorded training. @param {{name: string, steps: number, tokens: number[], losses: number[]}} training */
export function recordedCurve({ name, steps, tokens, losses }) {
  const millions = (tokens.at(-1) / 1e6).toFixed(1);
  const ends = `from ${losses[0].toFixed(2)} to ${losses.at(-1).toFixed(2)} nats a token`;
  return make('figure', { class: 'at-loss-curve' },
    make('figcaption', { class: 'at-quiet', text: `${name}. Loss ${ends}, each point the mean of `
      + `${counted.format(Math.ceil(steps / losses.length))} steps.` }),
    curve(losses.map((y, index) => ({ x: tokens[index], y })), {
      label: `Loss of ${name}`, from: 'start', to: `${counted.format(steps)} steps, ${millions} million tokens`, marked: false,
    }));
}
