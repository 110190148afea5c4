/**
 * Attention by hand: words weighed by likeness, scores that become weights, the mask, and what no order changes.
 *
 * @typedef {{numbers: (key: string, caption: string, names: {rowNames?: string[], columnNames: string[]}) =>
 *   ReturnType<typeof matrixTable>, change: (changes: object) => void}} AttentionAsking what a part asks with:
 *   `numbers` makes a table of numbers of the question
 * @typedef {{node: HTMLElement, draw: (result: any) => void}} AttentionPart
 */

const ATTENTION_ASKED = [
  'similarities', 'vectors', 'dots', 'width', 'scores', 'mask', 'sentence', 'shuffle', 'positions',
];
const ATTENTION_WORDS = ['apple', 'fruit'];
const ATTENTION_AXES = ['x', 'y'];
const ATTENTION_KEYS = ['key 1', 'key 2'];
const ATTENTION_TOKENS = ['1', '2', '3', '4'];

chapters.attention = {
  title: 'Attention by hand',
  build(root, ask) {
    let now = {};
    const change = (changes) => {
      now = { ...now, ...changes };
      ask(now);
    };
    /** @type {Map<string, ReturnType<typeof matrixTable>>} */
    const typed = new Map();
    const numbers = (key, caption, names) => {
      const onEdit = (row, column, value) => change({
        [key]: now[key].map((line, i) => (i === row ? line.with(column, value) : line)),
      });
      typed.set(key, matrixTable({ caption, ...names, scale: 'plain', editable: true, onEdit }));
      return typed.get(key);
    };
    const again = lessonButton('Start again', () => {
      typed.forEach((table) => table.forget());
      ask({});
    });
    const asking = { numbers, change };
    const parts = [attentionMixing, attentionScaling, attentionMasking, attentionOrder].map((part) => part(asking));
    root.append(
      lessonText('Attention makes each word’s vector anew: a weighted sum of all the words’ vectors, and the weights '
        + 'say whom it looks at. Change any number.'),
      lessonRow(again), ...parts.map(({ node }) => node));
    ask({});

    return (result) => {
      now = Object.fromEntries(ATTENTION_ASKED.map((key) => [key, result[key]]));
      typed.forEach((table, key) => table.update(result[key]));
      parts.forEach(({ draw }) => draw(result));
    };
  },
};

/** Words weighed by how alike they are. @param {AttentionAsking} asking @returns {AttentionPart} */
function attentionMixing({ numbers }) {
  const similarities = numbers('similarities', 'How alike apple is to', { columnNames: ATTENTION_WORDS });
  const vectors = numbers('vectors', 'Word vectors', { rowNames: ATTENTION_WORDS, columnNames: ATTENTION_AXES });
  const mixtures = ['division', 'softmax'].map((key) => {
    const weights = matrixTable({ caption: `Weights by ${key}`, columnNames: ATTENTION_WORDS, scale: 'share' });
    const vector = matrixTable({ caption: 'apple, anew', columnNames: ATTENTION_AXES, scale: 'plain' });
    const sum = make('p', { class: 'at-quiet' });
    return { key, weights, vector, sum, node: make('div', {}, weights.node, vector.node, sum) };
  });
  const plane = make('div', { class: 'at-plane' });
  const node = lessonPart('Without any parameters',
    lessonText('The plainest weights: how alike the words are, divided by the sum, so that they add up to 1. '
      + 'Similarities 1 and 0.25 give 0.8 and 0.2. That is division and not softmax, which gives 0.68 and 0.32: '
      + 'softmax takes any number, negative ones too, and sets the large ones apart, so it is what transformers use.'),
    make('div', { class: 'at-three' }, make('div', {}, similarities.node, vectors.node),
      ...mixtures.map((mixture) => mixture.node), plane));

  function draw(result) {
    mixtures.forEach(({ key, weights, vector, sum }) => {
      const mixed = result[key];
      weights.update(mixed.weights);
      vector.update(mixed.vector);
      sum.textContent = attentionSum(mixed.weights[0], result.vectors, mixed.vector[0]);
    });
    plane.replaceChildren(attentionPlane(result));
  }

  return { node, draw };
}

/** The weighted sum written out. @param {number[]} weights @param {number[][]} vectors @param {number[]} mixed */
function attentionSum(weights, vectors, mixed) {
  const parts = weights.map((weight, place) => `${weight.toFixed(2)} · (${vectors[place].join(', ')})`);
  return signed(`${parts.join(' + ')} = (${mixed.map((one) => one.toFixed(2)).join(', ')})`);
}

/** Scores divided by the root of the width. @param {AttentionAsking} asking @returns {AttentionPart} */
function attentionScaling({ numbers, change }) {
  const range = { min: 1, max: 256, value: 64 };
  const width = lessonSlider('Width of the vectors', range, (value) => change({ width: value }));
  const dots = numbers('dots', 'Dot products q · k', { columnNames: ATTENTION_KEYS });
  const told = (caption, scale) => matrixTable({ caption, columnNames: ATTENTION_KEYS, scale });
  const scaled = told('Divided by the root of the width', 'plain');
  const weights = told('Softmax of these', 'share');
  const unscaled = told('Softmax without scaling', 'share');
  const node = lessonPart('Scores are divided by the root of the width',
    lessonText('A dot product of long vectors is a large number, and the softmax of large numbers is all or nothing, '
      + 'which learns nothing more. Divided by √d the scores keep their size whatever the width (Vaswani et al., 2017, '
      + '3.2.1; `attention_weights` in model/layers.py).'),
    lessonRow(width.node),
    make('div', { class: 'at-three' }, dots.node, scaled.node, weights.node, unscaled.node));

  function draw(result) {
    width.put(result.width);
    scaled.update(result.scaled);
    weights.update(result.weights);
    unscaled.update(result.unscaled);
  }

  return { node, draw };
}

/** What is ahead hidden from each word. @param {AttentionAsking} asking @returns {AttentionPart} */
function attentionMasking({ numbers, change }) {
  const names = { rowNames: ATTENTION_TOKENS, columnNames: ATTENTION_TOKENS };
  const scores = numbers('scores', 'Scores', names);
  const mask = lessonSwitch('hide what is ahead', (checked) => change({ mask: checked }));
  const masked = matrixTable({ caption: 'What is left of them', ...names, scale: 'plain' });
  const looked = matrixTable({ caption: 'Softmax, row by row', ...names, scale: 'share' });
  const node = lessonPart('The mask',
    lessonText('A model that writes must not see the word that it is about to choose. Scores of words ahead become −∞ '
      + 'before the softmax, so their weights are 0 and the others of the row still add up to 1.'),
    lessonRow(mask.node), make('div', { class: 'at-three' }, scores.node, masked.node, looked.node));

  function draw(result) {
    mask.put(result.mask);
    masked.update(result.masked);
    looked.update(result.looked);
  }

  return { node, draw };
}

/** One sentence in two orders. @param {AttentionAsking} asking @returns {AttentionPart} */
function attentionOrder({ change }) {
  let shuffles = 0;
  const sentence = make('input', {
    type: 'text', class: 'at-lesson-wide', maxlength: 200,
    onchange: () => change({ sentence: sentence.value, shuffle: 0 }),
  });
  const shuffle = lessonButton('Shuffle the words', () => change({ shuffle: ++shuffles }));
  const positions = lessonSwitch('add positions', (checked) => change({ positions: checked }));
  const [before, after] = [matrixTable({}), matrixTable({})];
  const moved = make('p', { class: 'at-lesson-text', role: 'status' });
  const node = lessonPart('It cannot see order',
    lessonText('Every word attends to every word with its own vector as query, key and value (the model’s `attend`). '
      + 'Shuffle: each word gets the very same vector, wherever it stands, so “the dog bites the man” and “the man '
      + 'bites the dog” are one. Add the positions, and they part.'),
    lessonRow(lessonField('Sentence', sentence), shuffle, positions.node),
    moved, make('div', { class: 'at-two' }, before.node, after.node));
  const put = (table, order, words, vectors) => table.update(vectors, {
    caption: `${order}: what each word becomes`, rowNames: words,
    columnNames: vectors[0].map((_, place) => String(place + 1)),
  });

  function draw(result) {
    shuffles = result.shuffle;
    sentence.value = result.sentence;
    positions.put(result.positions);
    put(before, 'As typed', result.words, result.before);
    put(after, 'Shuffled', result.shuffled, result.after);
    moved.textContent = attentionMoved(result);
  }

  return { node, draw };
}

/** @param {{moved: number, shuffle: number, positions: boolean}} result what the shuffle changed, in words */
function attentionMoved({ moved, shuffle, positions }) {
  if (!shuffle) return 'Shuffle the words to see what becomes of their vectors.';
  if (moved < 1e-5) return 'No word’s vector has changed: attention alone cannot tell one order from another.';
  return `The vectors have changed, by up to ${moved}${positions ? ': with positions, order is seen.' : '.'}`;
}

/** The word vectors as arrows, and what apple becomes by division. */
function attentionPlane({ vectors, division, softmax }) {
  const arrows = [...vectors.map((point, place) => [point, ATTENTION_WORDS[place], 'at-arrow-word']),
    [softmax.vector[0], 'by softmax', 'at-arrow-softmax'], [division.vector[0], 'by division', 'at-arrow-new']];
  const across = [0, ...arrows.map(([[x]]) => x)];
  const down = [0, ...arrows.map(([[, y]]) => y)];
  const left = Math.min(...across);
  const low = Math.min(...down);
  const scale = Math.max(1e-9, Math.max(...across) - left, Math.max(...down) - low); // the same both ways
  const at = ([x, y]) => [70 + ((x - left) / scale) * 180, 205 - ((y - low) / scale) * 180];
  const [zero, ground] = at([0, 0]);
  const svg = makeSvg('svg', { viewBox: '0 0 320 225', role: 'img', 'aria-label': 'The word vectors as arrows' },
    makeSvg('line', { x1: 60, y1: ground, x2: 300, y2: ground, class: 'at-axis' }),
    makeSvg('line', { x1: zero, y1: 15, x2: zero, y2: 215, class: 'at-axis' }));
  arrows.forEach(([point, name, kind], place) => {
    const [x, y] = at(point);
    const label = makeSvg('text', place < ATTENTION_WORDS.length
      ? { x, y: y - 9, 'text-anchor': 'middle', class: kind }
      : { x: x - 8, y: y + (name === 'by softmax' ? -6 : 8), 'text-anchor': 'end', class: kind });
    label.textContent = name;
    svg.append(makeSvg('line', { x1: zero, y1: ground, x2: x, y2: y, class: kind }),
      makeSvg('circle', { cx: x, cy: y, r: 3.5, class: kind }), label);
  });
  return svg;
}
