/**
 * Attention by hand: words weighed by likeness, scores that become weights, the mask, and what no order changes.
 */

chapters.attention = {
  title: 'Attention by hand',
  build(root, ask) {
    let now = {};
    const change = (changes) => {
      now = { ...now, ...changes };
      ask(now);
    };
    /** A table of the question's numbers. */
    const numbers = (key, caption, rowNames, columnNames, scale = 'plain') => matrixTable({
      caption, rowNames, columnNames, scale, rows: rowNames.map(() => columnNames.map(() => 0)), editable: true,
      onEdit: (row, column, value) => change({
        [key]: now[key].map((line, i) => line.map((one, j) => (i === row && j === column ? value : one))),
      }),
    });
    const shares = (caption, rowNames, columnNames) => matrixTable({
      caption, rowNames, columnNames, scale: 'share', rows: rowNames.map(() => columnNames.map(() => 0)),
    });
    const words = ['apple', 'fruit'];
    const similarities = numbers('similarities', 'How alike apple is to', [''], words);
    const vectors = numbers('vectors', 'Word vectors', words, ['x', 'y']);
    const mixtures = ['division', 'softmax'].map((key) => {
      const weights = shares(`Weights by ${key}`, [''], words);
      const vector = matrixTable({ caption: 'apple, anew', rows: [[0, 0]], rowNames: [''], columnNames: ['x', 'y'], scale: 'plain' });
      const sum = make('p', { class: 'at-quiet' });
      return { key, weights, vector, sum, node: make('div', {}, weights.node, vector.node, sum) };
    });
    const plane = make('div', { class: 'at-plane' });
    const keys = ['key 1', 'key 2'];
    const dots = numbers('dots', 'Dot products q · k', [''], keys);
    const width = lessonSlider('Width of the vectors', { min: 1, max: 256, value: 64 }, (value) => change({ width: value }));
    const scaled = matrixTable({ caption: 'Divided by the root of the width', rows: [[0, 0]], rowNames: [''], columnNames: keys, scale: 'plain' });
    const weights = shares('Softmax of these', [''], keys);
    const unscaled = shares('Softmax without scaling', [''], keys);
    const tokens = ['1', '2', '3', '4'];
    const scores = numbers('scores', 'Scores', tokens, tokens);
    const mask = make('input', { type: 'checkbox', onchange: () => change({ mask: mask.checked }) });
    const masked = matrixTable({ caption: 'What is left of them', rows: tokens.map(() => tokens.map(() => 0)), rowNames: tokens, columnNames: tokens, scale: 'plain' });
    const looked = shares('Softmax, row by row', tokens, tokens);
    const sentence = make('input', { type: 'text', class: 'at-lesson-wide', maxlength: 200, onchange: () => change({ sentence: sentence.value, shuffle: 0 }) });
    const shuffle = make('button', { type: 'button', class: 'at-plain', text: 'Shuffle the words', onclick: () => change({ shuffle: now.shuffle + 1 }) });
    const positions = make('input', { type: 'checkbox', onchange: () => change({ positions: positions.checked }) });
    const orders = ['before', 'after'].map((key) => [key, matrixTable({ caption: '', rows: [[0]], rowNames: [''], columnNames: [''] })]);
    const moved = make('p', { class: 'at-lesson-text', role: 'status' });
    const tables = Object.entries({ similarities, vectors, dots, scores });
    const again = make('button', { type: 'button', class: 'at-plain', text: 'Start again', onclick: () => {
      tables.forEach(([, table]) => table.forget());
      ask({});
    } });

    root.append(
      lessonText('Attention makes each word’s vector anew: a weighted sum of all the words’ vectors, and the weights say '
        + 'whom it looks at. Change any number.'), make('div', { class: 'at-lesson-row' }, again),
      lessonPart('Without any parameters',
        lessonText('The plainest weights: how alike the words are, divided by the sum, so that they add up to 1. '
          + 'Similarities 1 and 0.25 give 0.8 and 0.2. That is division and not softmax, which gives 0.68 and 0.32: softmax '
          + 'takes any number, negative ones too, and sets the large ones apart, so it is what transformers use.'),
        make('div', { class: 'at-three' }, make('div', {}, similarities.node, vectors.node), ...mixtures.map(({ node }) => node), plane)),
      lessonPart('Scores are divided by the root of the width',
        lessonText('A dot product of long vectors is a large number, and the softmax of large numbers is all or nothing, which '
          + 'learns nothing more. Divided by √d the scores keep their size whatever the width (Vaswani et al., 2017, 3.2.1; '
          + '`attention_weights` in model/layers.py).'),
        make('div', { class: 'at-lesson-row' }, width.node),
        make('div', { class: 'at-three' }, dots.node, scaled.node, weights.node, unscaled.node)),
      lessonPart('The mask',
        lessonText('A model that writes must not see the word that it is about to choose. Scores of words ahead become −∞ before '
          + 'the softmax, so their weights are 0 and the others of the row still add up to 1.'),
        make('div', { class: 'at-lesson-row' }, make('label', { class: 'at-lesson-field' }, mask, make('span', { text: 'hide what is ahead' }))),
        make('div', { class: 'at-three' }, scores.node, masked.node, looked.node)),
      lessonPart('It cannot see order',
        lessonText('Every word attends to every word with its own vector as query, key and value (the model’s `attend`). Shuffle: '
          + 'each word gets the very same vector, wherever it stands, so “the dog bites the man” and “the man bites the dog” are '
          + 'one. Add the positions, and they part.'),
        make('div', { class: 'at-lesson-row' }, lessonField('Sentence', sentence), shuffle,
          make('label', { class: 'at-lesson-field' }, positions, make('span', { text: 'add positions' }))),
        moved, make('div', { class: 'at-two' }, ...orders.map(([, table]) => table.node))));
    ask({});

    return (result) => {
      now = Object.fromEntries(['similarities', 'vectors', 'dots', 'width', 'scores', 'mask', 'sentence', 'shuffle', 'positions']
        .map((key) => [key, result[key]]));
      tables.forEach(([key, table]) => table.update(result[key]));
      mixtures.forEach(({ key, weights: share, vector, sum }) => {
        share.update(result[key].weights);
        vector.update(result[key].vector);
        const parts = result[key].weights[0].map((weight, place) =>
          `${weight.toFixed(2)} · (${result.vectors[place].join(', ')})`);
        sum.textContent = signed(`${parts.join(' + ')} = (${result[key].vector[0].map((one) => one.toFixed(2)).join(', ')})`);
      });
      plane.replaceChildren(attentionPlane(result, words));
      width.put(result.width);
      scaled.update(result.scaled);
      weights.update(result.weights);
      unscaled.update(result.unscaled);
      mask.checked = result.mask;
      masked.update(result.masked);
      looked.update(result.looked);
      sentence.value = result.sentence;
      positions.checked = result.positions;
      const shown = { before: [result.words, 'As typed'], after: [result.shuffled, 'Shuffled'] };
      orders.forEach(([key, table]) => table.update(result[key], {
        caption: `${shown[key][1]}: what each word becomes`, rowNames: shown[key][0],
        columnNames: result[key][0].map((_, place) => String(place + 1)),
      }));
      moved.textContent = attentionMoved(result);
    };
  },
};

/** @param {{moved: number, shuffle: number, positions: boolean}} result what the shuffle changed, in words */
function attentionMoved({ moved, shuffle, positions }) {
  if (!shuffle) return 'Shuffle the words to see what becomes of their vectors.';
  if (moved < 1e-5) return 'No word’s vector has changed: attention alone cannot tell one order from another.';
  return `The vectors have changed, by up to ${moved}${positions ? ': with positions, order is seen.' : '.'}`;
}

/** The word vectors as arrows, and what apple becomes by division. */
function attentionPlane({ vectors, division, softmax }, words) {
  const arrows = [...vectors.map((point, place) => [point, words[place], 'at-arrow-word']),
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
    const isMixture = place >= words.length; // whose name stands on the other side
    const label = makeSvg('text', {
      x: x + (isMixture ? -8 : 8), y: y + (name === 'by softmax' ? -6 : 8), 'text-anchor': isMixture ? 'end' : 'start', class: kind,
    });
    label.textContent = name;
    svg.append(makeSvg('line', { x1: zero, y1: ground, x2: x, y2: y, class: kind }),
      makeSvg('circle', { cx: x, cy: y, r: 3.5, class: kind }), label);
  });
  return svg;
}
