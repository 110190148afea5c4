/**
 * Heads at a glance: a thumbnail of each, the pattern that it attends to most, one of them enlarged, and what changes when parts are off.
 */

/** @import { EffectsAnswer, HeadsAnswer } from './why_contract' */
/** @import { Asking, Place } from './why.js' */
/** @import { Sheet } from '../../kit/js/data.js' */

import { make, makeButton, setText } from '../../kit/js/dom.js';
import { makeData } from '../../kit/js/data.js';
import { scrollToAnswer } from '../../kit/js/signals.js';
import { percent } from '../../kit/js/text.js';
import { whenThemed } from '../../kit/js/theme.js';
import { makeHead } from './head.js';
import { makeHeadGrid, nats, roomBeside } from './plots.js';
import { makeThumbnails, unpackCells } from './thumbnails.js';
import { makeWithout } from './without.js';

const PREVIEW = 132; // pixels
const PATTERNS = {
  previous: 'previous token', duplicate: 'same token', induction: 'induction', first: 'first token', separators: 'punctuation',
};
const SHORT = { previous: 'prev.', duplicate: 'same', induction: 'induction', first: 'first', separators: 'punct.' }; // under a head
const SORTED = { '': 'by layer', ...PATTERNS, effect: 'effect on this token' };

/** @param {Asking} asking */
export function makeView({ answerTo }) {
  let place = /** @type {Place | null} */ (null);
  /** @type {HeadsAnswer | null} */
  let answer = null;
  let answered = ''; // the text and kind that were
  /** @type {Int8Array[]} */
  let maps = [];
  let locked = -1;
  let first = 0; // of those that are shown
  /** @type {number[][] | null} */
  let effects = null;
  let effectsOf = '';

  const kind = make('select', { 'aria-label': 'Kind of attention', hidden: true, onchange: refresh },
    make('option', { value: 'self', text: 'to the text so far' }), make('option', { value: 'cross', text: 'to the source' }));
  const sort = make('select', { 'aria-label': 'Order of the heads', onchange: arrange });
  const filter = make('select', { 'aria-label': 'Which heads', onchange: arrange });
  const preview = make('canvas', { class: 'at-preview', width: PREVIEW * 2, height: PREVIEW * 2, 'aria-hidden': 'true', hidden: true });
  const readout = make('p', { class: 'at-sm at-readout', 'aria-live': 'polite' });
  const thumbnails = makeThumbnails({ point: (head) => describe(head ?? locked), pick });
  const head = makeHead({ answerTo });
  const without = makeWithout({ answerTo });
  const ranking = make('div');
  const data = makeData(sheets);
  const large = make('div', { class: 'at-side-by-side', hidden: true }, head.node, without.node);
  const controls = make('div', { class: 'at-row at-wrap at-gap-sm at-sm', hidden: true }, kind, sort, filter,
    makeButton('Switch off each head in turn', () => scrollToAnswer(rank()), { title: 'How much does this token depend on each head?' }),
    makeButton('Save PNG', () => thumbnails.save(['heads'])));
  const node = make('div', { class: 'at-stack' },
    make('p', { class: 'at-md at-quiet', text: 'Where every head looks in this text: a row for each token, a column for each token before it. Under a head stands '
      + 'the pattern that gets the largest share of its attention here, and that share. Where a head looks does not say what it does with what it finds: switch it off to see whether this token depends on it.' }),
    controls,
    make('div', { class: 'at-side-by-side' }, ranking, make('div', { class: 'at-row at-top at-previewed' }, preview, readout)),
    thumbnails.node, large, data.node);
  whenThemed(() => {
    thumbnails.forgetColours();
    head.forgetColours();
  });

  /** @param {Place} next */
  function show(next) {
    place = next;
    if (effectsOf !== `${next.text} ${next.index}`) {
      effects = null;
      ranking.replaceChildren();
    }
    if (answered === `${next.text} ${kind.value}` && answer) {
      arrange();
      open();
    } else refresh();
  }

  async function refresh() {
    const { text } = place;
    if (!answered.startsWith(`${text} `)) locked = -1;
    /** @type {HeadsAnswer | undefined} */
    let reply = await answerTo('heads', { kind: kind.value });
    if (!reply) return;
    if (!reply.has_source && kind.value === 'cross') {
      kind.value = 'self';
      reply = await answerTo('heads', { kind: kind.value });
      if (!reply) return;
    }
    answer = reply;
    answered = `${text} ${kind.value}`;
    effects = null;
    ranking.replaceChildren();
    [controls.hidden, kind.hidden] = [false, !reply.has_source];
    maps = unpackCells(reply, kind.value === 'self');
    arrange();
    open();
  }

  /** @param {number} number of a head, layer after layer @returns {[number, number]} layer and head */
  const placeOf = (number) => [Math.floor(number / answer.heads), number % answer.heads];
  /** @param {number} number */
  const nameOf = (number) => placeOf(number).map((at) => at + 1).join('.');
  /** @param {number[][]} values by layer and head @param {number} number */
  function valueOf(values, number) {
    const [layer, at] = placeOf(number);
    return values[layer][at];
  }
  /** @param {number} number */
  const strongestOf = (number) => (answer.strongest ? answer.patterns[valueOf(answer.strongest, number)] : '');
  const numbers = () => [...Array(answer.layers * answer.heads).keys()];

  /** Offer what the heads can be sorted and filtered by, and draw those that are wanted. */
  function arrange() {
    offer(sort, ['', ...answer.patterns, ...(effects ? ['effect'] : [])].map((value) => [value, SORTED[value]]));
    offer(filter, [['', 'all heads'], ...answer.patterns.map((name) => /** @type {[string, string]} */ ([name, `largest share: ${PATTERNS[name]}`]))]);
    sort.hidden = filter.hidden = !answer.patterns.length && !effects;
    const listed = numbers().filter((number) => !filter.value || strongestOf(number) === filter.value);
    const isEffect = sort.value === 'effect', values = isEffect ? effects : answer.scores[sort.value];
    if (values) listed.sort((one, other) => (valueOf(values, other) - valueOf(values, one)) * (isEffect ? -1 : 1));
    thumbnails.draw({
      maps, rows: answer.rows, columns: answer.columns, order: listed, across: answer.heads,
      namesOf: (number) => {
        if (values) return [nameOf(number), isEffect ? nats(valueOf(values, number)) : percent(valueOf(values, number), 0)];
        if (!answer.strongest) return [nameOf(number), ''];
        return [`${nameOf(number)} ${SHORT[strongestOf(number)]}`, percent(valueOf(answer.strongest_share, number), 0)];
      },
    });
    first = listed[0] ?? 0;
    describe(locked);
    data.draw();
  }

  /** @param {number} number -1 for the first one */
  function describe(number) {
    if (number < 0) return describe(first);
    preview.hidden = false;
    thumbnails.paintOn(preview, number);
    const [layer, at] = placeOf(number);
    const shares = answer.patterns.map((name) => `${PATTERNS[name]}${name === 'induction' && !answer.has_source ? ' in random tokens' : ''} ${percent(valueOf(answer.scores[name], number), 0)}`).join(', ');
    const effect = effects ? ` Without it, this token’s log-probability changes by ${nats(valueOf(effects, number))}.` : '';
    const hint = locked < 0 ? ' Point at a head to see it larger; click to open it.' : '';
    setText(readout, `Layer ${layer + 1}, head ${at + 1}${shares && `: ${shares}`}.${effect}${hint}`);
  }

  /** @param {number} number */
  function pick(number) {
    locked = number;
    thumbnails.lock(number);
    describe(number);
    scrollToAnswer(open());
  }

  /** Open the chosen head at the selected token. */
  async function open() {
    thumbnails.lock(locked);
    large.hidden = locked < 0;
    if (locked < 0) return;
    const [layer, at] = placeOf(locked);
    const opened = head.show(place, { layer, head: at, kind: /** @type {'self' | 'cross'} */ (kind.value) }, `layer ${layer + 1}, head ${at + 1}`);
    without.show(place, { layer, head: at, isOfSource: kind.value === 'cross' });
    await opened;
    return large;
  }

  async function rank() {
    const of = `${place.text} ${place.index}`;
    /** @type {EffectsAnswer | undefined} */
    const reply = await answerTo('rank_heads', { kind: kind.value });
    if (!reply) return;
    [effects, effectsOf] = [reply.effects, of];
    const values = effects;
    const picture = makeHeadGrid({
      room: roomBeside(node.clientWidth), file: ['heads', 'off'],
      values: values.map((line) => line.map((change) => -change)), // blue speaks for the token, as with the words of a pair
      title: 'Blue heads speak for this token: without them its log-probability falls. Other heads may take over what one no longer does',
      describe: (layer, at) => `Without layer ${layer + 1}, head ${at + 1}: ${nats(values[layer][at])}`,
      onPick: (layer, at) => pick(layer * answer.heads + at),
    });
    const all = values.flat(), lowest = Math.min(...all), strongest = all.indexOf(lowest);
    ranking.replaceChildren(make('p', { class: 'at-md' }, ...(lowest < 0
      ? ['Of all heads, this token depends most on ', makeButton(`head ${nameOf(strongest)}`, () => pick(strongest)), `: without it, its log-probability changes by ${nats(lowest)}.`]
      : ['No head makes this token likelier: without any one of them, it would be at least as likely.'])), picture);
    offer(sort, ['', ...answer.patterns, 'effect'].map((value) => [value, SORTED[value]]));
    sort.value = 'effect';
    arrange();
    return ranking.firstElementChild;
  }

  /** @returns {Sheet[]} */
  function sheets() {
    if (!answer) return [];
    const columns = [...answer.patterns.map((name) => answer.scores[name]), ...(effects ? [effects] : [])];
    const rows = numbers().map((number) =>
      [...placeOf(number).map((at) => at + 1), PATTERNS[strongestOf(number)] ?? '', ...columns.map((values) => valueOf(values, number))]);
    return [{ title: 'Heads', head: ['layer', 'head', 'largest share', ...answer.patterns, ...(effects ? ['effect without it, nats'] : [])], rows }, ...without.sheets()];
  }

  return { node, show };
}

/** Put options into a select that keeps its choice, if it is still offered. @param {HTMLSelectElement} select @param {[string, string][]} options */
function offer(select, options) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, text]) => make('option', { value, text })));
  select.value = options.some(([value]) => value === before) ? before : '';
}
