/**
 * From this block to today's models: three kinds, what has changed, parameters by part, the chat format, the cache.
 *
 * @typedef {{node: HTMLElement, draw: (result: any) => void}} TodayPart
 */

import { explained } from '../../glossary/marking.js';
import { headCell, make, makeSvg, makeTable } from '../../kit/js/dom.js';
import { counted, percent, tokenChip } from '../../kit/js/text.js';
import { chapterInput, inputOf } from '../chapter_input.js';
import { labelled, lessonPart, numberSlider, paragraph, plainButton, sideBySide } from '../lesson.js';
import { matrixTable } from '../matrix.js';
import { extentBar } from '../pieces.js';

const FIELDS = ['vector', 'model', 'message', 'tokens']; // of a result: what the next question sends back
const KINDS = [ // architecture, what a token may look at, examples, what for
  ['Encoder', 'the whole text', 'BERT (Devlin et al., 2019)', 'vectors of texts: search, sorting, finding names'],
  ['Decoder', 'itself and what comes before it', 'GPT (Radford et al., 2018), Llama, attend-chat', 'texts: continuing, chatting, code'],
  ['Encoder-decoder', 'encoder: the whole source; decoder: the source, and its own text so far',
    'the transformer of 2017, T5 (Raffel et al., 2020), attend-translate', 'one text from another: translation, summaries'],
];
const CHANGES = [ // what, its name in the settings of a model, then why
  ['Place of the norm', 'norm_place', 'With the norm before each part, what is passed from layer to layer stays a plain sum, so gradients '
    + 'reach every layer: deep models train without a careful warm-up (Xiong et al., 2020).'],
  ['Norm', 'norm', 'RMSNorm leaves out the mean: less to compute, and as good (Zhang and Sennrich, 2019).'],
  ['Feed-forward', 'activation', 'SwiGLU multiplies two projections, one of them through SiLU. It makes models better at equal cost; its '
    + 'author offers no explanation (Shazeer, 2020).'],
  ['Positions', 'positions', 'Rotary positions turn queries and keys, so that scores depend on how far one token stands before another (Su et al., 2021).'],
  ['Biases', 'biases', 'Left out by many models since PaLM, which reports more stable training (Chowdhery et al., 2022).'],
  ['Heads of keys and values', 'key_value_heads', 'Often fewer than query heads, which share them: a smaller cache (Ainslie et al., 2023).'],
];

/** @type {import('../lesson.js').Build} */
export function build(root, ask) {
  const input = chapterInput(ask);
  const parts = [kindsPart, changesPart, normsPart, countsPart, chatPart, cachePart].map((part) => part(input.change));
  root.append(
    paragraph('The block of 2017 is still there in nearly every language model of today. Some of its parts were replaced by '
      + 'simpler or better ones, and models grew: from 65 million parameters (the base model of 2017) to hundreds of billions '
      + 'and more.'),
    sideBySide(input.reset), ...parts.map(({ node }) => node));
  ask({});

  return (result) => {
    input.update(inputOf(result, FIELDS));
    parts.forEach(({ draw }) => draw(result));
  };
}

/** @param {string} name @param {string[]} head @param {string[][]} rows */
const textTable = (name, head, rows) => make('div', { class: 'at-today-table', tabindex: 0, role: 'group', 'aria-label': name },
  explained(makeTable({ class: 'at-small' }, head.map((text) => headCell('col', text)),
    rows.map((row) => make('tr', {}, ...row.map((text) => make('td', { text })))))));

/** @returns {TodayPart} */
function kindsPart() {
  const node = lessonPart('Three kinds',
    paragraph('They differ in what a token may look at.'),
    textTable('Three kinds', ['', 'a token looks at', 'for example', 'good for'], KINDS));
  return { node, draw: () => {} };
}

/** What our two models have of it. @returns {TodayPart} */
function changesPart() {
  const table = make('div', {});
  const node = lessonPart('What has changed',
    paragraph('attend-translate is close to the paper of 2017, attend-chat to the models of today, except that it doesn’t share '
      + 'key heads. The values are read from their settings (`TransformerConfig` in model/transformer/config.py).'), table);

  function draw({ ours }) {
    table.replaceChildren(textTable('What has changed', ['', ...ours.map(({ name }) => name), 'why'],
      CHANGES.map(([what, key, why]) => [what, ...ours.map((model) => setting(model, key)), why])));
  }

  return { node, draw };
}

/** @param {Record<string, any>} model @param {string} key */
function setting(model, key) {
  const value = { rms: 'RMSNorm', layer: 'LayerNorm', relu: 'ReLU', swiglu: 'SwiGLU' }[model[key]] ?? String(model[key]);
  return key === 'key_value_heads' ? `${value}, for ${model.heads} query heads` : value;
}

/** The two norms of a vector, and the activations. @param {(changes: object) => void} change @returns {TodayPart} */
function normsPart(change) {
  /** @type {number[][]} */
  let vector = [[]];
  const given = matrixTable({
    caption: 'A vector', scale: 'plain', editable: true, columnNames: ['1', '2', '3', '4'],
    onEdit: (row, column, value) => change({ vector: vector.map((line, i) => (i === row ? line.with(column, value) : line)) }),
  });
  const norms = ['LayerNorm', 'RMSNorm'].map((caption) => ({ caption, ...matrixTable({ caption, columnNames: ['1', '2', '3', '4'] }) }));
  const curves = make('div', { class: 'at-today-curves' });
  const node = lessonPart('Norms and activations, by hand',
    paragraph('LayerNorm subtracts the mean and divides by the standard deviation. RMSNorm divides by the root mean square alone. '
      + 'Each then multiplies by a learned scale, which is 1 here.'),
    make('div', { class: 'at-tables' }, given.node, ...norms.map((norm) => norm.node)), curves);

  function draw(result) {
    vector = result.vector;
    given.update(vector);
    norms.forEach(({ caption, update }) => update(result.norms[caption]));
    if (!curves.children.length) curves.append(activationPicture(result.points, result.curves));
  }

  return { node, draw };
}

/** @param {number[]} points @param {Record<string, number[]>} curves */
function activationPicture(points, curves) {
  const [wide, high] = [420, 180];
  const x = (value) => 20 + ((value - points[0]) / (points.at(-1) - points[0])) * (wide - 90);
  const y = (value) => high - 20 - ((value + 0.5) / 4.5) * (high - 30);
  const svg = makeSvg('svg', { viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': 'ReLU, GELU and SiLU from −4 to 4' },
    makeSvg('line', { x1: x(points[0]), x2: x(points.at(-1)), y1: y(0), y2: y(0), class: 'at-axis-line' }),
    makeSvg('line', { x1: x(0), x2: x(0), y1: y(-0.5), y2: y(4), class: 'at-axis-line' }));
  Object.entries(curves).forEach(([name, values], index) => {
    const label = makeSvg('text', { x: wide - 66, y: 24 + 18 * index, 'data-curve': index });
    label.textContent = name;
    svg.append(makeSvg('polyline', {
      points: values.map((value, at) => `${x(points[at]).toFixed(1)},${y(value).toFixed(1)}`).join(' '), 'data-curve': index,
    }), label);
  });
  return svg;
}

/** A model's parameters by part. @param {(changes: object) => void} change @returns {TodayPart} */
function countsPart(change) {
  const model = make('select', { onchange: () => change({ model: model.value }) });
  const bars = make('ol', { class: 'at-near at-today-counts' });
  const total = make('p', { class: 'at-lesson-text' });
  const node = lessonPart('Where the parameters are',
    paragraph('Counted by the names of a model’s weights. Models that are in memory here join the list. In small models the '
      + 'vocabulary takes a large share; in large ones nearly everything is feed-forward and attention.'),
    sideBySide(labelled('Model', model)), bars, total);

  function draw({ model: chosen, models, counts }) {
    node.hidden = !models.length;
    model.replaceChildren(...models.map(([value, text]) => make('option', { value, text })));
    model.value = chosen;
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const sorted = Object.entries(counts).toSorted(([, one], [, other]) => other - one);
    bars.replaceChildren(...sorted.map(([part, count]) => make('li', {}, make('span', { text: part }), extentBar(count / all),
      make('span', { class: 'at-near-number', text: percent(count / all) }))));
    total.textContent = `${counted.format(all)} parameters in all: ${sorted.map(([part, count]) =>
      `${part} ${counted.format(count)}`).join(', ')}.`;
  }

  return { node, draw };
}

/** What training adds, and a chat's tokens. @param {(changes: object) => void} change @returns {TodayPart} */
function chatPart(change) {
  const message = make('input', { type: 'text', class: 'at-lesson-wide', maxlength: 80, onchange: () => change({ message: message.value }) });
  const tokens = make('div', { class: 'at-pieces' });
  const node = lessonPart('From texts to chats',
    paragraph('Pre-training: the model learns to predict the next token of very many texts. It can then continue a text, but it '
      + 'won’t answer. Fine-tuning goes on with fewer, chosen texts: questions with good answers, or dialogues. A chat format '
      + 'marks who speaks with reserved tokens, which nobody can type. These are the tokens that a model is given for your message; what '
      + 'it writes next is the answer, until it writes its end token.'),
    sideBySide(labelled('Message', message)), tokens);

  function draw({ message: sent, chat }) {
    node.hidden = !chat.length;
    message.value = sent;
    tokens.replaceChildren(...chat.map((token) => tokenChip(token, true)));
  }

  return { node, draw };
}

/** What the cache takes and saves. @param {(changes: object) => void} change @returns {TodayPart} */
function cachePart(change) {
  const tokens = numberSlider('Tokens', { min: 1, max: 100_000, value: 512 }, (value) => change({ tokens: value }));
  const size = make('p', { class: 'at-lesson-text' });
  const timings = make('div', {});
  const measure = plainButton('Measure it now', () => change({ measure: true }));
  const node = lessonPart('The key/value cache',
    paragraph('To choose the next token, attention needs the keys and values of all tokens before it. They don’t change, since no token sees '
      + 'what comes after it. So they are kept, and only the newest token passes through the model. Without this cache the whole '
      + 'text would be computed again for every token.'),
    sideBySide(tokens.node), size, sideBySide(measure), timings);

  function draw({ tokens: count, cache }) {
    node.hidden = !cache;
    if (!cache) return;
    tokens.put(count);
    const { name, layers, heads, width, context, bytes, timings: found } = cache;
    size.textContent = `For each token, ${name} keeps a key and a value of ${width} numbers in each of its ${heads} heads and `
      + `${layers} layers: 2 · ${layers} · ${heads} · ${width} · ${counted.format(count)} numbers of 4 bytes = ${(bytes / 2 ** 20).toFixed(bytes < 2 ** 24 ? 2 : 0)} MiB.`
      + (count > context ? ` (It reads at most ${counted.format(context)} tokens.)` : '');
    if (found.length) timings.replaceChildren(timingTable(found));
  }

  return { node, draw };
}

/** @param {{tokens: number, with: number, without: number}[]} timings */
const timingTable = (timings) => textTable('One more token', ['after', 'with the cache', 'without', ''],
  timings.map((one) => [`${one.tokens} tokens`, `${one.with.toFixed(1)} ms`, `${one.without.toFixed(1)} ms`,
    `${(one.without / one.with).toFixed(1)} times as long`]));
