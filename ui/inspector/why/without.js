/**
 * Parts of the model switched off or scaled: the token's table before and after, and the whole text written again with the
 * same random draws.
 */

/** @import { Rewritten, SwitchedOff } from './why_contract' */
/** @import { Asking, Place } from './why.js' */
/** @import { Sheet } from '../../kit/js/data.js' */

/** @typedef {{layer: number, part: string, head?: number, action: string, factor?: number}} Change */

import { changeList, changeRow } from '../../kit/js/change_bars.js';
import { make, makeButton } from '../../kit/js/dom.js';
import { answeredWithout, comparedRun, scrollToAnswer, shownTab } from '../../kit/js/signals.js';
import { percent, tokenChip, visibleText } from '../../kit/js/text.js';
import { inText } from '../step.js';

const PARTS = { attention: 'attention', cross_attention: 'cross-attention', feed_forward: 'feed-forward', layer: 'all' };

/** @param {Asking} asking */
export function makeWithout({ answerTo }) {
  /** @type {{layer: number, head: number, isOfSource: boolean} | null} */
  let chosen = null;
  /** @type {Change[]} */
  let changes = [];
  let changedRun = '';
  /** @type {SwitchedOff | null} */
  let table = null;

  const part = make('select', { 'aria-label': 'What to switch off' });
  const factor = make('input', { type: 'range', min: 0, max: 2, step: 0.1, value: 0, 'aria-label': 'How much of it is left', oninput: name });
  const left = make('output', { class: 'at-sm at-quiet' });
  const add = makeButton('Switch off', put, { class: 'at-primary' });
  const listed = make('div', { class: 'at-row at-wrap at-gap-sm at-sm' });
  const result = make('div');
  const again = makeButton('Write again without it', write, { title: 'The whole text, with the same settings and random draws' });
  const compare = makeButton('Compare on two cards', () => comparedRun.publish({ run: changedRun, changes }), { title: 'In Compare: the text as it was, and without these parts, with the same random draws' });
  const text = make('div', { class: 'at-rewritten', 'aria-live': 'polite' });
  const node = make('section', { class: 'at-stack at-without', 'aria-label': 'Switch off' }, make('h4', { text: 'What if it were off?' }),
    make('div', { class: 'at-row at-wrap at-gap-sm at-md' }, part, make('label', { class: 'at-row at-gap-sm' }, 'keep', factor, left), add), listed, result,
    make('div', { class: 'at-row at-wrap at-gap-sm' }, again, compare), text);
  name();

  /** @param {Place} next @param {typeof chosen} head */
  function show(next, head) {
    if (next.run !== changedRun) {
      [changes, changedRun] = [[], next.run];
      text.replaceChildren();
    }
    const isOther = JSON.stringify(chosen) !== JSON.stringify(head);
    chosen = head;
    if (isOther) {
      const options = [['head', nameOf({ layer: head.layer, part: headPart(), head: head.head, action: 'zero' })],
        ...['attention', ...(head.isOfSource ? ['cross_attention'] : []), 'feed_forward', 'layer'].map((value) => [value, `${PARTS[value]} of layer ${head.layer + 1}`])];
      part.replaceChildren(...options.map(([value, label]) => make('option', { value, text: label })));
    }
    refresh();
  }

  const headPart = () => (chosen.isOfSource ? 'cross_head' : 'head');

  /** @param {Change} change */
  function nameOf({ layer, part: of, head, action, factor: by }) {
    const where = head === undefined ? `${PARTS[of]} of layer ${layer + 1}` : `${of === 'cross_head' ? 'cross-attention ' : ''}head ${layer + 1}.${head + 1}`;
    return action === 'scale' ? `${where} × ${by}` : where;
  }

  function name() {
    const by = Number(factor.value);
    left.textContent = percent(by, 0);
    add.textContent = by === 0 ? 'Switch off' : 'Scale';
  }

  function put() {
    const [by, isHead] = [Number(factor.value), part.value === 'head'];
    const change = { layer: chosen.layer, part: isHead ? headPart() : part.value, ...(isHead ? { head: chosen.head } : {}), ...(by ? { action: 'scale', factor: by } : { action: 'zero' }) };
    const isSame = (one) => one.layer === change.layer && one.part === change.part && one.head === change.head;
    changes = [...changes.filter((one) => !isSame(one)), change];
    text.replaceChildren();
    scrollToAnswer(refresh());
  }

  /** @returns {Promise<Element | undefined>} the answer, if it is still wanted */
  async function refresh() {
    listed.replaceChildren(...changes.map((change) => makeButton(`${nameOf(change)} ×`, () => {
      changes = changes.filter((one) => one !== change);
      text.replaceChildren();
      refresh();
    }, { 'aria-label': `Switch ${nameOf(change)} on again` })));
    again.hidden = result.hidden = !changes.length;
    compare.hidden = !changes.length || shownTab.latest === 'Translate'; // whose model stays behind in its tab
    table = null;
    if (!changes.length) return;
    const askedChanges = changes;
    const answer = await answerTo('switch_off', { changes });
    if (!answer || askedChanges !== changes) return;
    table = answer;
    draw(answer);
    return result;
  }

  /** @param {SwitchedOff} answer */
  function draw({ ids, before, after, labels }) {
    const largest = Math.max(...before, ...after);
    const list = changeList('Probabilities before and after');
    list.append(...ids.map((id, i) => changeRow(tokenChip(labels[id]), {
      name: visibleText(labels[id]), before: before[i], after: after[i], largest, written: percent, both: true,
    })));
    result.replaceChildren(make('p', { class: 'at-sm at-quiet', text: `Grey: as it was. Coloured: with ${changes.map(nameOf).join(', ')} ${changes.some(({ action }) => action === 'scale') ? 'changed' : 'off'}.` }), list);
  }

  async function write() {
    const askedChanges = changes;
    /** @type {Rewritten | undefined} */
    const answer = await answerTo('write_without', { changes });
    if (!answer || askedChanges !== changes) return;
    const { ids, again: other, first_difference: difference, labels } = answer;
    const count = difference ?? ids.length;
    const isVersion = shownTab.latest === 'Chat' && difference !== null;
    text.replaceChildren(
      make('p', { class: 'at-md at-strong', text: difference === null ? 'The whole text stays the same.'
        : difference === 0 ? 'The text differs from its first token on.' : `The first ${difference === 1 ? 'token stays' : `${difference} tokens stay`} the same.` }),
      ...[['As it was', ids], [`Without ${changes.map(nameOf).join(', ')}`, other]].map(([title, tokens]) => make('div', { class: 'at-rewritten-text' },
        make('p', { class: 'at-sm at-quiet', text: String(title) }),
        make('p', { dir: 'auto' }, ...(/** @type {number[]} */ (tokens)).map((id, i) =>
          make('span', { class: i < count ? 'at-quiet' : i === count && difference !== null ? 'at-differing' : '' }, ...inText(labels[id])))))),
      ...(isVersion ? [makeButton('Put it into the conversation', () => answeredWithout.publish({ run: changedRun, changes }), { title: 'As a version of the answer' })] : []));
  }

  /** @returns {Sheet[]} */
  function sheets() {
    if (!table) return [];
    const { ids, before, after, labels } = table;
    return [{ title: `With ${changes.map(nameOf).join(', ')} changed`, head: ['token', 'before', 'after'], rows: ids.map((id, i) => [JSON.stringify(labels[id]), before[i], after[i]]) }];
  }

  return { node, show, sheets };
}
