/**
 * One word in several sentences: the similarity of its vectors in a layer, as a coloured table.
 */

/** @import { WordsValue } from './encoder_contract' */
/** @import { Sheet } from '../kit/js/data.js' */

import { termLink } from '../glossary/term_link.js';
import { makeData } from '../kit/js/data.js';
import { find, make, makeTable } from '../kit/js/dom.js';
import { followValue } from '../kit/js/values.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const root = find(component.element, '.attend-words');
  const caption = make('p', { class: 'at-quiet' });
  const table = make('div', {
    class: 'at-scroll', tabindex: 0, role: 'region', 'aria-label': 'Cosine similarities',
  });
  let value = /** @type {WordsValue | null} */ (null);
  const data = makeData(() => (value ? [cosineSheet(value), vectorSheet(value)] : []));

  root.append(
    make('div', { class: 'at-head' }, make('h3', {}, termLink('cosine', 'Cosine similarity')), make('span',
      { class: 'at-row at-gap-sm at-end at-sm at-quiet', 'aria-hidden': 'true' }, '0', make('i', { class: 'at-ramp at-ramp-cosine' }), '1')),
    table, caption, data.node);
  followValue(component, draw);

  /** @param {WordsValue} next */
  function draw(next) {
    value = next;
    const numbers = value.sentences.map((_, index) => make('th', { scope: 'col', text: index + 1 }));
    table.replaceChildren(
      makeTable({ class: 'at-cosines' }, [make('td'), ...numbers], value.sentences.map(sentenceRow)));
    caption.textContent = `“${value.word}” after ${value.layer}: a vector of ${value.vectors[0].length} numbers`
      + (value.pieces.some((pieces) => pieces.length > 1) ? ', the average of its tokens.' : '.');
    data.draw();
  }

  /** @param {[string, string, string]} sentence @param {number} index */
  function sentenceRow([before, word, behind], index) {
    return make('tr', {},
      make('th', { scope: 'row' }, make('span', { class: 'at-quiet', text: index + 1 }),
        make('span', { dir: 'auto' }, before, make('mark', { text: word }), behind)),
      ...value.cosines[index].map(cosineCell));
  }
}

/** Similarities crowd near 1, so the colour follows their cube. @param {number} cosine */
function cosineCell(cosine) {
  const cell = make('td', { text: cosine.toFixed(2) });
  cell.style.setProperty('--at-like', String(Math.max(0, Math.min(1, cosine)) ** 3));
  return cell;
}

/** @param {WordsValue} value @returns {Sheet} */
function cosineSheet({ sentences, cosines }) {
  const rows = cosines.map((row, index) =>
    [JSON.stringify(sentences[index].join('')), ...row.map((one) => one.toFixed(4))]);
  return { title: 'Cosine similarities', head: ['sentence', ...sentences.map((_, index) => String(index + 1))], rows };
}

/** @param {WordsValue} value @returns {Sheet} */
function vectorSheet({ pieces, vectors }) {
  const rows = vectors.map((row, index) => [index + 1, JSON.stringify(pieces[index].join(' ')), ...row]);
  return { title: 'Vectors', head: ['sentence', 'tokens', ...vectors[0].map((_, i) => String(i + 1))], rows };
}
