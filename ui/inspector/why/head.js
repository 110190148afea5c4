/**
 * One head, enlarged: the map of its attention, or lines between the words.
 */

/** @import { HeadAnswer } from './why_contract' */
/** @import { Asking, Place } from './why.js' */

import { make, makeButton, makeSvg } from '../../kit/js/dom.js';
import { selectToken, shownHead } from '../../kit/js/signals.js';
import { fitting, percent, visibleText } from '../../kit/js/text.js';
import { makeRadioSwitch } from '../../kit/parts/radio_switch.js';
import { makeAttention, strongest } from '../attention/attention.js';
import { makeMap } from '../attention/map.js';
import { pictureButton } from './plots.js';

const LINES = { tokens: 40, high: 17, narrow: 280, wide: 420, names: 104, least: 0.04, letters: 13 };

/** @param {Asking} asking */
export function makeHead({ answerTo }) {
  /** @type {HeadAnswer | null} */
  let answer = null;
  let attention = makeAttention();
  let place = /** @type {Place | null} */ (null);
  let shownAs = 'map';
  let title = '';
  let chosen = { layer: 0, head: 0, kind: /** @type {'self' | 'cross'} */ ('self') };
  let key = '';
  let isOfSource = false;

  const nameOf = (position) => visibleText(answer.labels[answer.ids[position]] ?? '');
  const keyName = (position) => (isOfSource ? visibleText(answer.labels[answer.source[position]]) : nameOf(position));
  const keysOf = (query) => (isOfSource ? answer.source.length : query + 1);
  const map = makeMap({
    weightsOf: (query) => attention.weights(query, 0, 0), rowName: (query) => nameOf(query + 1), keyName, keysOf,
    describe: (query, at) => `${nameOf(query)} → ${keyName(at)}: ${percent(attention.weights(query, 0, 0)[at])}, when choosing ${nameOf(query + 1)}`,
    onPick: (query) => selectToken(place.run, answer.offset + query + 1), named: 'Attention of this head',
  });
  const lines = make('div', { class: 'at-drawn' });
  const views = makeRadioSwitch('why-head', 'How the head is drawn', { map: 'map', lines: 'lines between words' }, (view) => {
    shownAs = view;
    draw();
  });
  const save = pictureButton(() => lines, ['head']);
  const colour = makeButton('Colour the text by it', () => shownHead.publish({ run: place.run, ...chosen }), { class: 'at-plain at-sm' });
  const heading = make('h4');
  const node = make('section', { class: 'at-stack at-head-large', 'aria-label': 'The chosen head' }, heading,
    make('div', { class: 'at-row at-wrap' }, views.node, colour, save), map.node, lines);
  views.choose('map');

  /** @param {Place} next @param {typeof chosen} head @param {string} name */
  async function show(next, head, name) {
    [place, chosen, title] = [next, head, name];
    const wanted = `${next.text} ${chosen.kind} ${chosen.layer} ${chosen.head}`;
    const query = answer ? next.index - answer.offset - 1 : -1;
    if (key !== wanted || query < answer.rows_from || query >= answer.rows_from + answer.rows.length) {
      /** @type {HeadAnswer | undefined} */
      const reply = await answerTo('open_head', chosen);
      if (!reply) return;
      [answer, key, isOfSource] = [reply, wanted, reply.source.length > 0];
      attention = makeAttention(keysOf);
      attention.put(reply.rows, reply.rows_from, [1, 1]);
    }
    draw();
  }

  function draw() {
    heading.textContent = `Where ${title} looks`;
    map.node.hidden = shownAs !== 'map';
    lines.hidden = save.hidden = shownAs !== 'lines';
    if (!answer) return;
    const query = place.index - answer.offset - 1;
    const end = answer.rows_from + answer.rows.length;
    if (shownAs === 'lines') lines.replaceChildren(...drawLines(query));
    else {
      map.draw({ from: answer.rows_from, end, keys: isOfSource ? answer.source.length : end, marked: query, title, full: 1 });
      map.reveal();
    }
  }

  /** Lines from each token to those that it attends to; those of the selected token's pass stand out. @param {number} query */
  function drawLines(query) {
    const first = Math.max(answer.rows_from, query - LINES.tokens + 1);
    const from = isOfSource ? 0 : first;
    const [queries, keys] = [query - first + 1, Math.min(LINES.tokens * 2, keysOf(query) - from)];
    const high = LINES.high * Math.max(queries, keys) + 4;
    const y = (row) => LINES.high * (row + 0.5) + 2;
    const width = Math.max(LINES.narrow, Math.min(LINES.wide, node.clientWidth));
    const [left, right] = [LINES.names, width - LINES.names];
    const shorten = (name) => fitting(name, (part) => [...part].length <= LINES.letters);
    const paths = Array.from({ length: queries }, (_, row) => {
      const weights = attention.weights(first + row, 0, 0) ?? new Float32Array(0);
      return strongest(weights, 12).filter(({ key: at, weight }) => weight >= LINES.least && at >= from && at < from + keys).map(({ key: at, weight }) =>
        makeSvg('line', { class: first + row === query ? 'at-look at-look-here' : 'at-look', x1: left + 6, y1: y(row), x2: right - 6, y2: y(at - from), opacity: ((first + row === query ? 1 : 0.4) * Math.sqrt(weight)).toFixed(2) }));
    }).flat();
    const names = [
      ...Array.from({ length: queries }, (_, row) => makeSvg('text', { class: `at-tick${first + row === query ? ' at-tick-here' : ''}`, x: left, y: y(row), 'text-anchor': 'end', 'dominant-baseline': 'central' }, shorten(nameOf(first + row)))),
      ...Array.from({ length: keys }, (_, row) => makeSvg('text', { class: 'at-tick', x: right, y: y(row), 'dominant-baseline': 'central' }, shorten(keyName(from + row)))),
    ];
    const top = strongest(attention.weights(query, 0, 0) ?? new Float32Array(0), 3).map(({ key: at, weight }) => `${keyName(at)} ${percent(weight, 0)}`);
    const words = `When choosing ${nameOf(query + 1)}, ${nameOf(query)} attended to ${top.join(', ')}.`;
    return [make('div', { class: 'at-scroll at-lines-scroll' },
      makeSvg('svg', { viewBox: `0 0 ${width} ${high}`, width, height: high, role: 'img', 'aria-label': `${title}: ${words}` }, ...paths, ...names)),
    make('p', { class: 'at-sm at-quiet', text: words })];
  }

  return { node, show, forgetColours: map.forgetColours };
}
