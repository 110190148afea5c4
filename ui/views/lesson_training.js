/**
 * One training step: what each place is taught, the gradients, and what Adam makes of them.
 */

const TRAINING_TABLES = [
  ['before', 'Weights before, w'], ['gradient', 'Gradient, g'], ['first', 'First moment, m'],
  ['second', 'Second moment, v'], ['change', 'Change, Δw'], ['after', 'Weights after, w + Δw'],
];

chapters.training = {
  title: 'One training step',
  build(root, ask) {
    /** @type {any} what was last asked for, or is shown */
    let now = {};
    /** @type {any} */
    let shown = null;
    const change = (changes) => {
      now = { ...now, ...changes };
      ask(now);
    };
    const fresh = (changes) => change({ step: 1, ...changes }); // what was learned from something else is of no use

    const source = toldSentence('The encoder reads', (ids) => fresh({ source: ids }));
    const reply = toldSentence('The decoder should say', (ids) => fresh({ answer: ids }));
    const rate = make('input', { type: 'number', min: '0.000001', max: 1, step: 'any', onchange: () => {
      if (limits.right()) fresh({ learning_rate: Number(rate.value) });
    } });
    const limits = lessonLimits(rate);
    const next = lessonButton('Another step', () => change({ step: now.step + 1 }));
    const ten = lessonButton('Ten more', () => change({ step: Math.min(shown.most_steps, now.step + 10) }));
    next.className = 'at-primary';
    const again = lessonButton('Start again', () => ask({}));
    const told = make('p', { class: 'at-lesson-text', role: 'status' });
    const curve = make('div', { class: 'at-loss-curve' });

    const line = toldLine('Point at a number of a table');
    const places = make('ol', { class: 'at-places' });
    const probabilities = matrixTable({
      caption: 'Probabilities of the next word', scale: 'share', onPoint: (place) => place && sayProbability(place),
    });
    const norms = make('div', { class: 'at-norms', role: 'radiogroup', 'aria-label': 'The matrix to look at' });
    norms.addEventListener('change', (event) => change({ matrix: event.target.value }));
    const tables = Object.fromEntries(TRAINING_TABLES.map(([key, caption]) => [key, matrixTable({
      caption, onPoint: (place) => place && say(key, place),
    })]));

    root.append(
      lessonText('The same small transformer learns one sentence. A step is four things: the loss, its gradient, '
        + 'Adam’s two moments, and the change of every weight. Training a large model is this, many times, on many '
        + 'sentences.'),
      lessonRow(source.node, reply.node),
      lessonRow(make('div', { class: 'at-lesson-field' }, lessonField('Learning rate', rate), limits.node),
        next, ten, again),
      make('p', { class: 'at-quiet', text: 'A new learning rate, or other words, begins again at step 1.' }),
      told, curve,
      lessonPart('Teacher forcing',
        lessonText('At every place the decoder reads the true words so far, not its own guesses, and is asked for the '
          + 'next one. Thanks to the look-ahead mask all places are answered in one pass. Loss = −ln p(target); below, '
          + 'before the step.'),
        places, probabilities.node),
      lessonPart('The gradient',
        lessonText('Backpropagation (`accelerator.backward` in training/train.py) says of each weight how much the '
          + 'loss would grow with it. How long the gradient of each matrix is, and which one to look at below:'),
        norms),
      lessonPart('What Adam makes of it',
        lessonText('Adam (Kingma and Ba, 2015) keeps a running mean m of the gradient and v of its square, both zero '
          + 'at first and divided by 1 − βᵗ to make up for that: m̂ and v̂. Then Δw = −η · m̂ / (√v̂ + ε). In the '
          + 'first step m̂ / √v̂ is the gradient’s sign: a weight moves by the learning rate, however small its gradient, '
          + 'and only where that is 0 it stays. In the code: `adam` in lesson/training.py, held equal to PyTorch’s by '
          + 'a test.'),
        make('div', { class: 'at-tables' }, ...TRAINING_TABLES.map(([key]) => tables[key].node))),
      line.node);
    ask({});

    function sayProbability({ row, column }) {
      const { read, probabilities: all, target, loss } = shown.positions[row];
      const p = signed(all[column].toPrecision(5));
      const told = column === target ? `the target, so the loss is −ln ${p} = ${loss.toFixed(3)}` : 'not the target';
      const words = read.map((id) => shown.words[id]).join(' ');
      line.say(`After “${words}”, p(${shown.words[column]}) = ${p}; it is ${told}`);
    }

    function say(key, { row, column }) {
      const { update, betas: [first, second], epsilon } = shown;
      const at = (name) => trainingShort(update[name][row][column]);
      const t = now.step;
      const formulas = {
        before: () => (t === 1 ? 'as the model began' : `as step ${t - 1} left it`),
        gradient: () => 'how much the loss would grow with this weight',
        first: () => `${first} · ${at('first_before')} + ${trainingRest(first)} · ${at('gradient')}`,
        second: () => `${second} · ${at('second_before')} + ${trainingRest(second)} · ${at('gradient')}²`,
        change: () => `−${now.learning_rate} · [${at('first')} / (1 − ${first}${trainingPower(t)})] / `
          + `(√[${at('second')} / (1 − ${second}${trainingPower(t)})] + ${epsilon})`,
        after: () => `${at('before')} + (${at('change')})`,
      };
      const caption = TRAINING_TABLES.find(([name]) => name === key)[1];
      line.say(`${caption}: ${formulas[key]()} = ${at(key)}`);
      Object.values(tables).forEach((table) => table.light((i, j) => i === row && j === column));
    }

    return (result) => {
      shown = result;
      now = result.given;
      source.put(now.source, result.words, result.longest);
      reply.put(now.answer, result.words, result.longest);
      if (document.activeElement !== rate) {
        rate.value = String(now.learning_rate);
        limits.right();
      }
      next.disabled = ten.disabled = now.step >= result.most_steps;
      const [before, after] = result.losses.slice(-2);
      told.textContent = `Step ${now.step}: the loss goes from ${before.toFixed(3)} to ${after.toFixed(3)}`
        + `${after > before ? ': up! The step was too large' : ''}. `
        + `All gradients together have the length ${result.norm.toPrecision(3)}.`
        + (now.step >= result.most_steps ? ` More than ${result.most_steps} steps are not taken here.` : '');
      curve.replaceChildren(trainingCurve(result.losses));
      places.replaceChildren(...result.positions.map((one) => trainingPlace(one, result.words)));
      probabilities.update(result.positions.map((one) => one.probabilities), {
        rowNames: result.positions.map((one) => `→ ${result.words[one.target]}`), columnNames: result.words,
      });
      probabilities.light((row, column) => column === result.positions[row].target);
      norms.replaceChildren(...trainingNorms(result.norms, now.matrix));
      Object.entries(tables).forEach(([key, table]) => {
        const rows = result.update[key];
        table.update(rows, {
          rowNames: rows.map((_, i) => result.rows[i] ?? ''),
          columnNames: rows[0].map((_, j) => result.columns[j] ?? ''),
          digits: trainingDigits(rows),
        });
        table.light(null);
      });
    };
  },
};

/** What one place reads and should say. */
function trainingPlace({ read, target, probabilities, loss }, words) {
  return make('li', {}, make('span', { class: 'at-place-read', text: read.map((id) => words[id]).join(' ') }),
    make('span', { text: ' → ' }), make('b', { text: words[target] }),
    make('span', { class: 'at-quiet', text: `  ${percent(probabilities[target])}, loss ${loss.toFixed(3)}` }));
}

/** A bar for each matrix's gradient, which is a choice as well. */
function trainingNorms(norms, chosen) {
  const most = Math.max(...Object.values(norms));
  return Object.entries(norms).map(([name, norm]) => {
    const bar = make('i', { 'aria-hidden': 'true' });
    bar.style.width = `${(100 * norm) / most}%`;
    return make('label', { class: 'at-norm' },
      make('input', {
        class: 'at-hidden', type: 'radio', name: 'training-matrix', value: name, checked: name === chosen,
      }),
      make('span', { text: name }), make('span', { class: 'at-norm-bar' }, bar),
      make('span', { text: norm.toPrecision(3) }));
  });
}

/** The loss before the first step and after each. @param {number[]} losses */
function trainingCurve(losses) {
  const [wide, high] = [420, 120];
  const most = Math.max(...losses);
  const x = (step) => 30 + ((wide - 40) * step) / Math.max(1, losses.length - 1);
  const y = (loss) => high - 18 - ((high - 30) * loss) / most;
  const path = losses.map((loss, step) => `${x(step).toFixed(1)},${y(loss).toFixed(1)}`).join(' ');
  const text = (at, label, anchor) => {
    const node = makeSvg('text', { x: at[0], y: at[1], 'text-anchor': anchor });
    node.textContent = label;
    return node;
  };
  const steps = losses.length - 1;
  return makeSvg('svg', { viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': `The loss over ${steps} steps` },
    makeSvg('line', { x1: 30, x2: wide - 10, y1: y(0), y2: y(0), class: 'at-axis-line' }),
    makeSvg('polyline', { points: path }),
    ...(losses.length <= 30 ? losses.map((loss, step) => makeSvg('circle', { cx: x(step), cy: y(loss), r: 3 })) : []),
    text([26, y(most) + 4], most.toFixed(1), 'end'), text([26, y(0) + 4], '0', 'end'),
    text([x(0), high - 4], 'before', 'start'), text([x(steps), high - 4], `after step ${steps}`, 'end'));
}

/** How many decimals show the largest number with three digits. @param {number[][]} rows */
function trainingDigits(rows) {
  const most = Math.max(...rows.flat().map(Math.abs));
  return most ? Math.min(9, Math.max(2, 2 - Math.floor(Math.log10(most)))) : 2;
}

/** @param {number} number with three digits */
const trainingShort = (number) => signed(String(Number(number.toPrecision(3))));

/** 1 − β, without the dust of binary fractions. @param {number} beta */
const trainingRest = (beta) => Number((1 - beta).toPrecision(3));

/** @param {number} exponent as superscript digits; 1 is not written */
const trainingPower = (exponent) =>
  (exponent === 1 ? '' : [...String(exponent)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join(''));
