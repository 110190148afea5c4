/**
 * Positions: the sinusoids as a picture, the rotation that shifts a position, and other encodings.
 */

import { make, makeSvg } from '../../kit/js/dom.js';
import { formula, withFormulas } from '../../kit/js/formula.js';
import { signed } from '../../kit/js/text.js';
import { plainButton, lessonPart, sideBySide, numberSlider, paragraph } from '../lesson.js';
import { matrixTable } from '../matrix.js';
import { matrixPicture } from '../picture.js';

const SCHEMES = {
  range: ['From 0 to 1', 'One number, with the same range for every sentence. But the longer the sentence, the '
    + 'less one step means: the distance between neighbours below changes with the number of words.'],
  counting: ['Counting', 'Every step is 1, but the numbers grow without limit: in a long sentence they drown out '
    + 'the word vectors, and positions beyond those seen in training are new to the model.'],
  binary: ['Binary digits', 'Bounded, and each position is different. But neighbours differ sometimes in one '
    + 'digit, sometimes in several: the distance jumps.'],
  sinusoids: ['Sinusoids', 'Like binary digits, but smooth: fast waves in the first columns, slow ones in the '
    + 'last. Bounded, different everywhere, and every step has the same length.'],
};

/** @type {import('../lesson.js').Build} */
export function build(root, ask, first) {
  let now = { ...first };
  const slider = (key, name, min, max) => numberSlider(name, { min, max, value: now[key] }, (value) => {
    now = { ...now, [key]: value };
    ask(now);
  });
  const sliders = {
    length: slider('length', 'Positions', 2, 128), width: slider('width', 'Numbers per position', 2, 128),
    position: slider('position', 'Position', 0, 64), shift: slider('shift', 'Shift', -first.position, 64),
    compared: slider('compared', 'Words', 2, 16),
  };
  const again = plainButton('Reset', () => {
    now = { ...first };
    Object.entries(sliders).forEach(([key, { put }]) => put(now[key]));
    ask(now);
  });
  const pictures = picturesPart();
  const turns = make('div', { class: 'at-rotations' });
  const schemes = schemesPart();
  const rotary = matrixTable({ caption: 'Scores of the same query and key' });

  root.append(
    paragraph('Attention sees a set of vectors, without order. So a second vector is added to every word vector '
      + 'to say where the word is (Vaswani et al., 2017):'),
    make('p', { class: 'at-equation' },
      formula('PE(pos, 2i) = sin({pos / 10000^(2i/d)})'), formula('PE(pos, 2i+1) = cos({pos / 10000^(2i/d)})')),
    paragraph('Here $pos$ is the position, $d$ is the width of the vector and $i$ counts its pairs of columns. In the code: `sinusoids` in model/transformer/positions.py.'),
    sideBySide(sliders.length.node, sliders.width.node, again), pictures.node,
    paragraph('The second picture shows the cosine of every two positions. The farther apart two positions are, the less alike their vectors become, though not '
      + 'steadily: the sum of many waves has ripples.'),
    lessonPart('A shift is a rotation',
      paragraph('Each pair (sin, cos) is a point on a circle. Moving on by $φ$ positions turns it by an angle '
        + 'that depends only on $φ$ and the pair, not on the position $p$. With $ω = 1 / 10000^(2i/d)$, the frequency of pair $i$:'),
      make('p', { class: 'at-equation' },
        formula('sin(ω(p + φ)) = cos(ωφ) · sin(ωp) + sin(ωφ) · cos(ωp)'), formula('cos(ω(p + φ)) = −sin(ωφ) · sin(ωp) + cos(ωφ) · cos(ωp)')),
      paragraph('So for each shift one matrix, of these sines and cosines of $ωφ$, does it from any '
        + 'position: one means “two words back”. The authors hoped that this makes it easy to attend by distance.'),
      sideBySide(sliders.position.node, sliders.shift.node), turns),
    lessonPart('Other ways to encode positions', sideBySide(sliders.compared.node), schemes.node),
    lessonPart('Rotary positions',
      paragraph('attend-chat adds nothing to its word vectors. For attention, which the next chapter computes, it makes two more '
        + 'vectors from each: a query (what the word asks for) and a key (what it can be found by). How well a query fits a key, '
        + 'their score, is the dot product: multiply them number by number and add up. Rotary positions turn every query and '
        + 'key by an angle that depends on its position (Su et al., 2021; `rotate` in model/transformer/positions.py), so a score '
        + 'depends on how far one word stands before or after the other. Below, every row has the same query and every column the '
        + 'same key: the numbers along each diagonal are equal.'), rotary.node));
  ask(now);

  return (result) => {
    now = Object.fromEntries(Object.keys(now).map((key) => [key, result[key]]));
    sliders.shift.reach(-now.position, 64);
    pictures.draw(result);
    turns.replaceChildren(...result.turns.map((turn, pair) => turnFigure(turn, pair, now)));
    schemes.draw(result.schemes);
    const names = result.rotary.map((_, index) => String(index));
    rotary.update(result.rotary, { rowNames: names, columnNames: names });
  };
}

/** The table of sinusoids, and how alike its rows are. */
function picturesPart() {
  let width = 0;
  const table = matrixPicture({
    name: 'Positions as waves', across: 'column of the vector', down: 'position',
    describe: (row, column, value) => withFormulas(`position ${row}, column ${column}: ${signed(value.toFixed(2))}`
      + ` = $${column % 2 ? 'cos' : 'sin'}(${row} / 10000^(${column - (column % 2)}/${width}))$`),
  });
  const likeness = matrixPicture({
    name: 'Similarity of two positions', across: 'position', down: 'position',
    describe: (row, column, value) => [`positions ${row} and ${column}: cosine ${signed(value.toFixed(2))}`],
  });

  function draw(result) {
    width = result.width;
    table.update(result.table, result.length, width);
    likeness.update(result.likeness, result.length, result.length);
  }

  return { node: make('div', { class: 'at-two' }, table.node, likeness.node), draw };
}

/** Four position encodings, each with the distances between neighbours. */
function schemesPart() {
  const schemes = Object.entries(SCHEMES).map(([key, [name, description]]) => {
    const table = matrixTable({ caption: name });
    const apart = make('p', { class: 'at-quiet' });
    return { key, table, apart, node: make('div', { class: 'at-scheme' }, paragraph(description), table.node, apart) };
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
function turnFigure({ frequency, before, turned, after, matrix }, pair, { position, shift }) {
  const at = ([sine, cosine]) => [60 + 46 * cosine, 60 - 46 * sine];
  const hand = (point, kind) => {
    const [x, y] = at(point);
    return [
      makeSvg('line', { x1: 60, y1: 60, x2: x, y2: y, class: kind }),
      makeSvg('circle', { cx: x, cy: y, r: 4, class: kind }),
    ];
  };
  const picture = makeSvg('svg', { viewBox: '0 0 120 120', class: 'at-rotation-circle', 'aria-hidden': 'true' },
    makeSvg('circle', { cx: 60, cy: 60, r: 46, class: 'at-rotation-rim' }),
    ...hand(before, 'at-rotation-before'), ...hand(turned, 'at-rotation-after'));
  const coordinates = ([sine, cosine]) => signed(`(${sine.toFixed(2)}, ${cosine.toFixed(2)})`);
  const rows = matrix.map((row) => `[${row.map((one) => signed(one.toFixed(2))).join(', ')}]`).join(', ');
  const same = turned.every((one, axis) => Math.abs(one - after[axis]) < 0.0051);
  return make('figure', { class: 'at-rotation' },
    make('figcaption', { text: `columns ${2 * pair} and ${2 * pair + 1}, ω = ${frequency}` }), picture,
    make('p', { text: `position ${position}: ${coordinates(before)}` }),
    make('p', { text: `[${rows}] turns it to ${coordinates(turned)}` }),
    make('p', { text: `position ${position + shift} in the table: ${coordinates(after)}, ${same ? '' : 'not '}the same` }));
}
