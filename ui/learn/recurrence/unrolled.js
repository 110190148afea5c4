/**
 * A recurrent encoder-decoder unrolled: a box for each word with the state after it, and the numbers of one step.
 */

/** @import { ChapterInput } from '../chapter_input.js' */
/** @import { RecurrencePart } from './chapter.js' */

import { make } from '../../kit/js/dom.js';
import { formula } from '../../kit/js/formula.js';
import { factor } from '../explanation.js';
import { lessonPart, paragraph, plainButton, sideBySide } from '../lesson.js';
import { matrixNumber, matrixTable } from '../matrix.js';

const ROWS = ['word’s vector x', 'state before h', 'reset gate r', 'update gate z', 'candidate n', 'new state h′'];
/** As PyTorch computes them, and what each is for. @type {[string, string][]} */
const EQUATIONS = [
  ['r = σ(W_r x + U_r h + b_r)', 'the reset gate: how much of the state the candidate may use'],
  ['z = σ(W_z x + U_z h + b_z)', 'the update gate: how much of the state is kept'],
  ['n = tanh(W_n x + b_n + r ⊙ (U_n h + c_n))', 'the candidate: what the new state would be if nothing were kept'],
  ['h′ = (1 − z) ⊙ n + z ⊙ h', 'the new state: a mixture of candidate and old state'],
];
const [, BEFORE, , UPDATE, CANDIDATE, AFTER] = ROWS.keys();

/** @param {ChapterInput} input @returns {RecurrencePart} */
export function unrolledPart({ typed }) {
  /** @type {any} */
  let shown = null;
  let chosen = 0; // the step in the table
  let column = 0; // the number that is written out
  const picture = make('div', { class: 'at-unrolled' });
  const outcome = make('p', { class: 'at-quiet', role: 'status' });
  const table = matrixTable({ rowNames: ROWS, onPoint: (cell) => {
    if (cell) column = cell.column;
    explain();
  } });
  const next = plainButton('Next word', () => choose((chosen + 1) % shown.words.length));
  const node = lessonPart('One state, carried from word to word',
    paragraph('Each network is a GRU (Cho et al., 2014), in the form that PyTorch computes. It reads a word’s vector $x$ and the state before it, $h$, and makes a '
      + 'new state $h′$. It has two gates, which are numbers from 0 to 1, one for each number of the state; $σ$ squeezes any number '
      + 'into that range.'),
    make('ul', { class: 'at-equations' }, ...EQUATIONS.map(([written, meaning]) =>
      make('li', {}, formula(written), make('span', { text: meaning })))),
    paragraph('$⊙$ multiplies number by number. Where $z$ is near 1 the old state stays, so a GRU can carry something over many '
      + 'words. The weights here are random and nobody trained them: the picture shows what is passed on, not what is '
      + 'learned. Click a word to see its step.'),
    sideBySide(typed('source', 'The encoder reads', { class: 'at-lesson-wide' }),
      typed('target', 'The decoder reads', { class: 'at-lesson-wide' })),
    picture, sideBySide(next), table.node, outcome,
    paragraph('The decoder begins with the encoder’s last state and sees nothing else of the sentence: four numbers for '
      + 'three words, and still four for eight. That is the bottleneck. In training the decoder reads the '
      + 'translation itself, word by word; later it reads what it has just written. Sutskever, Vinyals and Le '
      + '(2014) translated this way, with LSTMs of four layers and 8,000 numbers in between. Cho et al. (2014) show the '
      + 'vector to the decoder at every step, but it is still one vector.'));

  function choose(step) {
    chosen = step;
    paint();
  }

  function paint() {
    const { words, read, steps } = shown;
    const boxes = words.map((word, index) => stepBox(word, steps[index][AFTER], index === chosen, () => choose(index)));
    const size = steps[0][AFTER].length;
    picture.replaceChildren(
      side('Encoder', boxes.slice(0, read)),
      make('div', { class: 'at-bottleneck' }, arrow(), make('div', {}, strip(steps[read - 1][AFTER]),
        make('span', { text: `${size} numbers` })), arrow()),
      side('Decoder', boxes.slice(read)));
    const encodes = chosen < read;
    const [number, count] = encodes ? [chosen + 1, read] : [chosen + 1 - read, words.length - read];
    table.update(steps[chosen], {
      caption: `${encodes ? 'Encoder' : 'Decoder'}, word ${number} of ${count}: “${words[chosen]}”`,
      columnNames: steps[0][AFTER].map((_, index) => String(index + 1)),
    });
    explain();
  }

  function explain() {
    if (!shown) return;
    const [before, update, candidate, after] = [BEFORE, UPDATE, CANDIDATE, AFTER]
      .map((row) => shown.steps[chosen][row][column]);
    outcome.textContent = `Number ${column + 1} of the new state: (1 − z) · n + z · h = (1 − ${matrixNumber(update, 2)}) · `
      + `${factor(candidate)} + ${matrixNumber(update, 2)} · ${factor(before)} = ${matrixNumber(after, 2)}`;
  }

  function draw(result) {
    shown = result;
    chosen = Math.min(chosen, result.words.length - 1);
    paint();
  }

  return { node, draw };
}

/** @param {string} name @param {HTMLElement[]} boxes */
const side = (name, boxes) => make('div', { class: 'at-unrolled-side', role: 'group', 'aria-label': name },
  make('span', { class: 'at-quiet', text: name }),
  make('div', { class: 'at-unrolled-steps' }, ...boxes.flatMap((box, index) => (index ? [arrow(), box] : [box]))));

/** @param {string} word @param {number[]} state after it @param {boolean} isChosen @param {() => void} onclick */
const stepBox = (word, state, isChosen, onclick) => make('button', {
  type: 'button', class: 'at-unrolled-step', 'aria-pressed': String(isChosen), onclick,
}, strip(state), make('span', { text: word, dir: 'auto' }));

/** A state as coloured cells. @param {number[]} state each number from −1 to 1 */
const strip = (state) => make('span', {
  class: 'at-state', role: 'img', 'aria-label': `state ${state.map((number) => matrixNumber(number, 2)).join(', ')}`,
}, ...state.map((number) => make('i', { 'data-level': Math.round(5 + 5 * number), title: matrixNumber(number, 2) })));

const arrow = () => make('span', { class: 'at-quiet', 'aria-hidden': 'true', text: '→' });
