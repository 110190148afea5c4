/**
 * Words as vectors: neighbours, analogies, likeness and a map, from a model's own embedding matrix.
 *
 * @typedef {{text: string, pieces: string[]}} SpelledWord
 * @typedef {{model: string, models: string[], size: [number, number], word: SpelledWord, nearest: [string, number][],
 *   analogy: {words: SpelledWord[], nearest: [string, number][], expected: SpelledWord | null, rank: number | null},
 *   words: SpelledWord[], around: number, cosines: number[][], points: [number, number][],
 *   neighbours: [string, number, number, number][], shares: [number, number]}} WordVectors
 */

const VECTORS_FIRST = {
  word: 'dog', a: 'sister', b: 'brother', c: 'father', expected: 'mother', around: 1,
  words: 'Monday Tuesday Wednesday Sunday, mother father sister brother, red blue green yellow, '
    + 'football baseball hockey',
};
const VECTORS_ANALOGIES = [
  'sister brother father mother', 'went go see saw', 'dogs dog cat cats', 'their they we our', 'first one three third',
  'bad good hot cold', 'woman man king queen',
];
const VECTORS_LISTS = [
  ['Four families', VECTORS_FIRST.words],
  ['Now and then', 'is was, are were, go went, have had, do did, say said, see saw, know knew, think thought'],
  ['Who', 'he she his her him they them their, mother father sister brother, boy girl man woman'],
  ['How many', 'one two three four five six ten, first second third, some many several few, once twice'],
];

const VECTORS_LEARNED = {
  'attend-translate': 'Its vectors were learned from 136,657 short sentence pairs: expect less order in them.',
};

chapters.vectors = {
  title: 'Words as vectors',
  build(root, ask) {
    const field = (name, size) => make('input', {
      type: 'text', size, 'aria-label': name, spellcheck: 'false', autocapitalize: 'none',
    });
    const model = make('select', { 'aria-label': 'Model' });
    const fields = {
      word: field('A word', 14), a: field('First word', 9), b: field('Without', 9), c: field('And with', 9),
      expected: field('Expected', 9),
      words: make('textarea', { rows: 2, 'aria-label': 'Words to compare', spellcheck: 'false' }),
    };
    let around = VECTORS_FIRST.around;
    const now = () => ask({
      ...(model.value ? { model: model.value } : {}), around,
      ...Object.fromEntries(Object.entries(fields).map(([key, { value }]) => [key, value.trim()])),
    });
    const slider = lessonSlider('Neighbours of each', { min: 0, max: 3, value: around }, (value) => {
      around = value;
      now();
    });
    const put = (values) => Object.entries(values).forEach(([key, value]) => {
      if (fields[key]) fields[key].value = value;
    });
    const take = (values) => () => {
      put(values);
      now();
    };
    model.addEventListener('change', now);
    Object.values(fields).forEach((one) => one.addEventListener('input', afterTyping(now)));

    const about = make('span', { class: 'at-quiet' });
    const again = lessonButton('Start again', () => {
      around = VECTORS_FIRST.around;
      slider.put(around);
      model.value = model.options[0]?.value ?? '';
      put(VECTORS_FIRST);
      now();
    });
    const learned = make('p', { class: 'at-quiet', role: 'status' });
    const [near, found] = [make('div'), make('div')];
    const verdict = make('p', { class: 'at-lesson-text' });
    const cut = make('p', { class: 'at-quiet at-cut-words' });
    const likeness = matrixTable({ caption: 'Cosine similarities' });
    const map = wordMap();
    root.append(
      lessonText('The first thing a model does with a token is to look up its vector: a row of the embedding matrix '
        + '(`embedding` in model/transformer.py), the same in every sentence. Nobody chose these numbers; they were '
        + 'learned with all others, and tokens that are used alike came to point the same way. How alike two '
        + 'directions are is the cosine of the angle between them: 1 the same way, 0 nothing in common, −1 opposite '
        + 'ways.'),
      lessonRow(lessonField('Model', model), about, again), learned,
      lessonPart('Nearest neighbours',
        lessonText('A word is looked up as it stands inside a text, behind a space. Three dots mark tokens without '
          + 'one: they go on with a word, or begin a text.'),
        lessonField('Word', fields.word), near),
      lessonPart('Analogies',
        lessonText('If the step from brother to sister is a direction, it should also lead from father to mother: a − '
          + 'b + c, each of length 1 (Mikolov, Yih and Zweig, 2013). The three words themselves are left out, since '
          + 'the nearest is often one of them.'),
        make('div', { class: 'at-lesson-row at-analogy' },
          fields.a, '−', fields.b, '+', fields.c, '= is it', fields.expected, '?'),
        chipRow('Analogies to try', VECTORS_ANALOGIES.map((text) => {
          const [a, b, c, expected] = text.split(' ');
          return [`${a} − ${b} + ${c}`, take({ a, b, c, expected })];
        })), verdict, found),
      lessonPart('How alike words are',
        fields.words,
        lessonRow(chipRow('Lists to try', VECTORS_LISTS.map(([name, words]) => [name, take({ words })]))),
        cut, likeness.node),
      lessonPart('On a map',
        lessonText('The plane through these words that keeps most of what sets them apart (the first two principal '
          + 'components, `plane` in lesson/vectors.py). Small dots are nearest neighbours of the word that they are '
          + 'tied to, laid on the same plane.'),
        lessonRow(slider.node), map.node));
    put(VECTORS_FIRST);
    ask({});

    return (/** @type {WordVectors} */ result) => {
      if (String([...model.options].map(({ value }) => value)) !== String(result.models)) { // else the list may be open
        model.replaceChildren(...result.models.map((name) => make('option', { value: name, text: name })));
      }
      model.value = result.model;
      about.textContent = `${counted.format(result.size[0])} tokens, each a vector of ${result.size[1]} numbers`;
      learned.textContent = VECTORS_LEARNED[result.model] ?? '';
      near.replaceChildren(vectorsCut([result.word]), vectorsNear(result.nearest));
      verdict.replaceChildren(...vectorsVerdict(result.analogy));
      found.replaceChildren(vectorsCut(result.analogy.words), vectorsNear(result.analogy.nearest));
      const names = result.words.map(({ text }) => text);
      cut.replaceChildren(vectorsCut(result.words));
      likeness.update(result.cosines, { rowNames: names, columnNames: names });
      map.update(result);
    };
  },
};

/** @param {[string, number][]} nearest tokens with their cosines */
const vectorsNear = (nearest) => make('ol', { class: 'at-near' }, ...nearest.map(([text, cosine]) => make('li', {},
  tokenName(text), extentBar(cosine), make('span', { class: 'at-near-number', text: signed(cosine.toFixed(2)) }))));

/** Which of these words are no single token. @param {SpelledWord[]} words */
function vectorsCut(words) {
  const cut = words.filter(({ pieces }) => pieces.length > 1);
  if (!cut.length) return make('span', {});
  const said = (piece) => visibleText(piece.trim() || piece);
  const told = cut.map(({ text, pieces }) => `${text} = ${pieces.map(said).join(' + ')}`).join('; ');
  const text = `No single token, so the mean of its pieces’ vectors stands for it, which may say little of the word `
    + `itself (of single bytes it says nothing): ${told}.`;
  return make('span', { class: 'at-quiet', text });
}

/** @param {WordVectors['analogy']} analogy @returns {(Node | string)[]} */
function vectorsVerdict({ words, nearest, expected, rank }) {
  const sum = `${words[0].text} − ${words[1].text} + ${words[2].text}`;
  if (!nearest.length) return [`${sum} is near nothing.`];
  const first = make('strong', {}, tokenName(nearest[0][0]));
  if (!expected) return [`${sum} is nearest to `, first, '.'];
  if (rank === 1) return [`${sum} is nearest to `, first, ', as expected.'];
  const never = expected.pieces.length > 1 ? 'it is no single token of this model' : 'it is one of the three';
  const where = rank
    ? `“${expected.text}” comes as number ${counted.format(rank)}.` : `“${expected.text}” cannot come, since ${never}.`;
  return [`${sum} is nearest to `, first, `; ${where} Such steps are learned from many sentences, or not at all.`];
}
