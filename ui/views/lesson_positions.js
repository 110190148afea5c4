/**
 * Positions: the sinusoids as a picture, the rotation that shifts one, and what else was weighed.
 */

const POSITIONS_FIRST = lessonFirst.positions;
const POSITIONS_SCHEMES = {
  range: ['From 0 to 1', 'One number, the same ends for every sentence. But a step means less the longer the sentence '
    + 'is: the distance between neighbours below changes with the number of words.'],
  counting: ['Counting', 'Every step is 1, but the numbers grow without end: a long sentence drowns the word vectors, '
    + 'and lengths never seen in training are numbers never seen.'],
  binary: ['Binary digits', 'Bounded, and each position is different. But neighbours are sometimes one digit apart, '
    + 'sometimes several at once: the distance jumps.'],
  sinusoids: ['Sinusoids', 'Binary digits made smooth: fast waves in the first columns, slow ones behind. Bounded, '
    + 'different everywhere, and every step is equally far.'],
};

chapters.positions = {
  title: 'Positions',
  build(root, ask) {
    let now = { ...POSITIONS_FIRST };
    const slider = (key, name, min, max) => lessonSlider(name, { min, max, value: now[key] }, (value) => {
      now = { ...now, [key]: value };
      ask(now);
    });
    const sliders = {
      length: slider('length', 'Positions', 2, 128), width: slider('width', 'Numbers each', 2, 128),
      position: slider('position', 'Position', 0, 64), shift: slider('shift', 'Shift', -POSITIONS_FIRST.position, 64),
      compared: slider('compared', 'Words', 2, 16),
    };
    const again = lessonButton('Start again', () => {
      now = { ...POSITIONS_FIRST };
      Object.entries(sliders).forEach(([key, { put }]) => put(now[key]));
      ask(now);
    });
    const pictures = positionsPictures();
    const turns = make('div', { class: 'at-turns' });
    const schemes = positionsSchemes();
    const rotary = matrixTable({ caption: 'Scores of one query and one key' });

    root.append(
      lessonText('Attention sees a set of vectors and no order. So every word vector gets a second one added that says '
        + 'where the word stands: PE(pos, 2i) = sin(pos / 10000^(2i/d)) and PE(pos, 2i+1) = cos of the same (Vaswani '
        + 'et al., 2017). In the code: `sinusoids` in model/layers.py.'),
      lessonRow(sliders.length.node, sliders.width.node, again), pictures.node,
      lessonPart('A shift is a rotation',
        lessonText('Each pair (sin, cos) is a point on a circle, and to go on by φ positions turns it by an angle that '
          + 'knows φ and the pair, never the position: (sin ω(p+φ), cos ω(p+φ)) = [[cos ωφ, sin ωφ], [−sin ωφ, cos '
          + 'ωφ]] · (sin ωp, cos ωp). So one matrix says “two words back” from everywhere, and a model can learn it.'),
        lessonRow(sliders.position.node, sliders.shift.node), turns),
      lessonPart('What else one could do', lessonRow(sliders.compared.node), schemes.node),
      lessonPart('Rotary positions',
        lessonText('attend-chat adds nothing to its word vectors: it turns every query and key by its position (Su et '
          + 'al., 2021; `rotate` in model/layers.py), so that their product knows the distance. Below the same query '
          + 'stands at every row and the same key at every column: all the numbers along a diagonal are '
          + 'equal.'), rotary.node));
    ask(now);

    return (result) => {
      now = Object.fromEntries(Object.keys(now).map((key) => [key, result[key]]));
      sliders.shift.reach(-now.position, 64);
      pictures.draw(result);
      turns.replaceChildren(...result.turns.map((turn, pair) => positionsTurn(turn, pair, now)));
      schemes.draw(result.schemes);
      const names = result.rotary.map((_, place) => String(place));
      rotary.update(result.rotary, { rowNames: names, columnNames: names });
    };
  },
};

/** The table of sinusoids, and how alike its rows are. */
function positionsPictures() {
  let width = 0;
  const table = matrixPicture({
    name: 'Positions as waves', across: 'number of the vector', down: 'position',
    told: (row, column, value) => `position ${row}, number ${column}: ${signed(value.toFixed(2))}`
      + ` = ${column % 2 ? 'cos' : 'sin'}(${row} / 10000^(${column - (column % 2)}/${width}))`,
  });
  const likeness = matrixPicture({
    name: 'How alike two positions are', across: 'position', down: 'position',
    told: (row, column, value) =>
      `positions ${row} and ${column}: ${signed(value.toFixed(2))} of the largest dot product`,
  });

  function draw(result) {
    width = result.width;
    table.update(result.table, result.length, width);
    likeness.update(result.likeness, result.length, result.length);
  }

  return { node: make('div', { class: 'at-two' }, table.node, likeness.node), draw };
}

/** Four ways to tell a position, each with how far neighbours are apart. */
function positionsSchemes() {
  const schemes = Object.entries(POSITIONS_SCHEMES).map(([key, [name, said]]) => {
    const table = matrixTable({ caption: name });
    const apart = make('p', { class: 'at-quiet' });
    return { key, table, apart, node: make('div', { class: 'at-scheme' }, lessonText(said), table.node, apart) };
  });

  function draw(result) {
    schemes.forEach(({ key, table, apart }) => {
      const { vectors, steps } = result[key];
      table.update(vectors, {
        rowNames: vectors.map((_, row) => String(row)),
        columnNames: vectors[0].map((_, column) => (vectors[0].length > 1 ? String(column) : '')),
      });
      const [least, most] = [Math.min(...steps), Math.max(...steps)].map((one) => one.toFixed(2));
      apart.textContent = `Neighbours are ${least === most ? least : `${least} to ${most}`} apart.`;
    });
  }

  return { node: make('div', { class: 'at-two' }, ...schemes.map(({ node }) => node)), draw };
}

/** One pair of a position on its circle, before and after the shift. */
function positionsTurn({ frequency, before, turned, after, matrix }, pair, { position, shift }) {
  const at = ([sine, cosine]) => [60 + 46 * cosine, 60 - 46 * sine];
  const hand = (point, kind) => {
    const [x, y] = at(point);
    return [
      makeSvg('line', { x1: 60, y1: 60, x2: x, y2: y, class: kind }),
      makeSvg('circle', { cx: x, cy: y, r: 4, class: kind }),
    ];
  };
  const picture = makeSvg('svg', { viewBox: '0 0 120 120', class: 'at-turn-circle', 'aria-hidden': 'true' },
    makeSvg('circle', { cx: 60, cy: 60, r: 46, class: 'at-turn-rim' }),
    ...hand(before, 'at-turn-before'), ...hand(turned, 'at-turn-after'));
  const told = ([sine, cosine]) => signed(`(${sine.toFixed(2)}, ${cosine.toFixed(2)})`);
  const rows = matrix.map((row) => `[${row.map((one) => signed(one.toFixed(2))).join(', ')}]`).join(', ');
  const same = turned.every((one, axis) => Math.abs(one - after[axis]) < 0.0051);
  return make('figure', { class: 'at-turn' },
    make('figcaption', { text: `numbers ${2 * pair} and ${2 * pair + 1}, ω = ${frequency}` }), picture,
    make('p', { text: `position ${position}: ${told(before)}` }),
    make('p', { text: `[${rows}] turns it to ${told(turned)}` }),
    make('p', { text: `position ${position + shift} in the table: ${told(after)}, ${same ? '' : 'not '}the same` }));
}
