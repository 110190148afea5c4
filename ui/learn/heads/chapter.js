/**
 * Several heads: the split and the join by hand, two heads of a trained model, the shapes, and the three kinds of attention.
 *
 * @typedef {{nodes: HTMLElement[], draw: (result: any) => void}} HeadsPart
 * @typedef {{name: string, axes: string[], shape: number[]}} HeadsArray
 */

import { headCell, make, makeTable } from '../../kit/js/dom.js';
import { counted, visibleText } from '../../kit/js/text.js';
import { chapterInput, inputOf } from '../chapter_input.js';
import { labelled, lessonPart, numberSlider, paragraph, sideBySide } from '../lesson.js';
import { matrixTable } from '../matrix.js';

const FIELDS = [ // of a result: what the next question sends back
  'split', 'time', 'width', 'heads', 'head_width', 'sentence', 'one', 'other', 'source', 'translation', 'layer', 'head',
];
/** @type {Record<string, [name: string, max: number]>} */
const SIZES = { time: ['Tokens (time)', 512], width: ['Width', 512], heads: ['Heads', 16], head_width: ['Width of a head', 128] };

/** @type {import('../lesson.js').Build} */
export function build(root, ask) {
  const input = chapterInput(ask);
  const parts = [splitPart, twoHeadsPart, shapesPart, kindsPart].map((part) => part(input.change));
  root.append(
    paragraph('One attention averages all that it finds into one vector, so different things blur. So a layer has '
      + 'several: each head computes its own queries, keys and values from the same words, attends in its own way, and '
      + 'the results are joined (Vaswani et al., 2017, section 3.2.2).'),
    sideBySide(input.reset), ...parts.flatMap(({ nodes }) => nodes));
  ask({});

  return (result) => {
    input.update(inputOf(result, FIELDS));
    parts.forEach(({ draw }) => draw(result));
  };
}

/** The small block's six columns, shared out among its heads. @param {(changes: object) => void} change @returns {HeadsPart} */
function splitPart(change) {
  const heads = make('select', { onchange: () => change({ split: Number(heads.value) }) });
  const tables = make('div', { class: 'at-heads' });
  const node = lessonPart('Split and join',
    paragraph('The block of the next chapter has six columns. With two heads, the first takes three columns of the '
      + 'queries, keys and values, the second the other three. This takes no more parameters: each head’s dot products just '
      + 'run over three columns instead of six, and each head has its own softmax. At the end their results stand side by side again, and W_O, a matrix that is learned, mixes them.'),
    sideBySide(labelled('Heads', heads)), tables);

  function draw({ split, splits, stages, words }) {
    heads.replaceChildren(...splits.map((count) => make('option', { value: count, text: count })));
    heads.value = String(split);
    const columns = Array.from({ length: split }, (_, head) => make('div', {}, ...['queries', 'weights', 'mixed'].map((stage) => {
      const rows = stages[stage][head];
      const names = stage === 'weights' ? words : rows[0].map(() => '');
      return matrixTable({
        caption: `Head ${head + 1}: ${{ queries: 'queries', weights: 'weights', mixed: 'weighted sum' }[stage]}`, rows,
        rowNames: words, columnNames: names, scale: stage === 'weights' ? 'share' : 'signed',
      }).node;
    })));
    const joined = [['joined', 'Joined: the heads side by side', words], ['output_weights', 'W_O', null],
      ['output', 'Joined · W_O', words]].map(([stage, caption, names]) => matrixTable({
      caption, rows: stages[stage][0], rowNames: names ?? stages[stage][0].map(() => ''),
      columnNames: stages[stage][0][0].map(() => ''),
    }).node);
    tables.replaceChildren(make('div', { class: 'at-tables' }, ...columns), make('div', { class: 'at-tables' }, ...joined));
  }

  return { nodes: [node], draw };
}

/** Two heads of a trained model on one sentence. @param {(changes: object) => void} change @returns {HeadsPart} */
function twoHeadsPart(change) {
  const sentence = make('input', {
    type: 'text', class: 'at-lesson-wide', maxlength: 120, onchange: () => change({ sentence: sentence.value }),
  });
  const choices = [['one', 'First head'], ['other', 'Second head']].map(([key, name]) => ({
    ...headChoice(name, (place) => change({ [key]: place })), key, table: matrixTable({ scale: 'share' }),
  }));
  const node = lessonPart('Two heads, one sentence',
    paragraph('Two heads of attend-chat have read the same sentence. A row shows where a token looks. Layer 5, head 3 mostly '
      + 'looks at the token before. Layer 6, head 5 looks up what it was told: from the second “called” it goes to the '
      + 'beginning of the name. Nobody assigned these jobs: they came about in training.'),
    sideBySide(labelled('Sentence', sentence)),
    ...choices.map((choice) => make('div', {}, choice.node, choice.table.node)));

  function draw(result) {
    node.hidden = !result.maps;
    if (!result.maps) return;
    const { tokens, layers, heads, of } = result.maps;
    sentence.value = result.sentence;
    const names = tokens.map(wordLabel);
    choices.forEach(({ key, put, table }, index) => {
      put(result[key], layers, heads);
      const caption = `Layer ${result[key][0]}, head ${result[key][1]}`;
      table.update(of[index], { caption, rowNames: names, columnNames: names });
    });
  }

  return { nodes: [node], draw };
}

/** The arrays and their sizes. @param {(changes: object) => void} change @returns {HeadsPart} */
function shapesPart(change) {
  const sliders = Object.entries(SIZES).map(([key, [name, max]]) => ({
    key, ...numberSlider(name, { min: 1, max, value: 1 }, (value) => change({ [key]: value })),
  }));
  const tables = make('div', { class: 'at-two' });
  const total = make('p', { class: 'at-lesson-text' });
  const node = lessonPart('The same as shapes',
    paragraph('In code, all heads are computed at once: they are one more axis of the arrays. At first these are the '
      + 'sizes of an example from Keras: `MultiHeadAttention(num_heads=3, key_dim=2)` on vectors of width 16. Here the '
      + 'heads’ widths don’t add up to the width of the layer, which is allowed; usually they do.'),
    sideBySide(...sliders.map((slider) => slider.node)), tables, total);

  function draw(result) {
    sliders.forEach(({ key, put }) => put(result[key]));
    tables.replaceChildren(shapeTable('Computed', result.computed), shapeTable('Learned', result.weights));
    total.textContent = `Training learns ${counted.format(result.parameters)} numbers in all.`;
  }

  return { nodes: [node], draw };
}

/** @param {string} name @param {HeadsArray[]} arrays */
const shapeTable = (name, arrays) => make('div', { class: 'at-small-scroll', tabindex: 0, role: 'region', 'aria-label': name },
  makeTable({ class: 'at-small' }, [name, 'axes', 'shape'].map((text) => headCell('col', text)),
    arrays.map((array) => make('tr', {}, make('td', { text: array.name }), make('td', { text: array.axes.join(', ') }),
      make('td', { text: `(${array.shape.map((size) => counted.format(size)).join(', ')})` })))));

/** The three attentions of a translator. @param {(changes: object) => void} change @returns {HeadsPart} */
function kindsPart(change) {
  const field = (key) => {
    const input = make('input', {
      type: 'text', class: 'at-lesson-wide', maxlength: 120, onchange: () => change({ [key]: input.value }),
    });
    return input;
  };
  const [source, translation] = [field('source'), field('translation')];
  const choice = headChoice('Head', ([layer, head]) => change({ layer, head }));
  const tables = [['encoder', 'Encoder: self-attention'], ['decoder', 'Decoder: masked self-attention'],
    ['cross', 'Decoder: cross-attention']].map(([key, caption]) => ({ key, ...matrixTable({ caption, scale: 'share' }) }));
  const node = lessonPart('Three kinds of attention',
    paragraph('An encoder-decoder has all three. They differ in which tokens ask and which ones they may attend to. In the '
      + 'encoder, every word of the French sentence may attend to every other. In the decoder, a word of the translation may '
      + 'attend only to itself and the words before it: the mask leaves a triangle. And in cross-attention the translation '
      + 'asks the French sentence. '
      + 'Below is one head of attend-translate at a time.'),
    sideBySide(labelled('French', source)), sideBySide(labelled('English', translation)), choice.node,
    make('div', { class: 'at-tables' }, ...tables.map((table) => table.node)));

  function draw(result) {
    node.hidden = !result.kinds;
    if (!result.kinds) return;
    const { layers, heads, tokens, source_tokens: given } = result.kinds;
    [source.value, translation.value] = [result.source, result.translation];
    choice.put([result.layer, result.head], layers, heads);
    tables.forEach(({ key, update }) => update(result.kinds[key], {
      rowNames: (key === 'encoder' ? given : tokens).map(wordLabel),
      columnNames: (key === 'decoder' ? tokens : given).map(wordLabel),
    }));
  }

  return { nodes: [node], draw };
}

/** A layer and a head to choose. @param {string} name @param {(place: [number, number]) => void} onChange */
function headChoice(name, onChange) {
  const changed = () => onChange([Number(layer.value), Number(head.value)]);
  const [layer, head] = ['layer', 'head'].map((what) => make('select', { 'aria-label': `${name}: ${what}`, onchange: changed }));
  const fill = (select, count, value) => {
    if (select.options.length !== count) {
      select.replaceChildren(...Array.from({ length: count }, (_, index) => make('option', { value: index + 1, text: index + 1 })));
    }
    select.value = String(value);
  };
  const put = ([layerNow, headNow], layers, heads) => {
    fill(layer, layers, layerNow);
    fill(head, heads, headNow);
  };
  return { node: sideBySide(labelled(`${name}: layer`, layer), labelled('head', head)), put };
}

/** A token without the space before it. @param {string} token */
const wordLabel = (token) => visibleText(token.trim() || token);
