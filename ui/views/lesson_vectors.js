/**
 * Words as vectors: neighbours, analogies, likeness and a map, from a model's own embedding matrix.
 *
 * @typedef {{text: string, pieces: string[]}} SpelledWord
 * @typedef {{model: string, models: [name: string, called: string][], size: [number, number], word: SpelledWord,
 *   nearest: [string, number][], analogy: {words: SpelledWord[], nearest: [string, number][],
 *   expected: SpelledWord | null, rank: number | null}, words: SpelledWord[], around: number, cosines: number[][],
 *   points: [number, number][], neighbours: [string, number, number, number][], shares: [number, number]}} WordVectors
 * @typedef {{text: (key: string, name: string, attributes?: object) => HTMLElement,
 *   slider: (key: string, name: string, min: number, max: number) => HTMLElement,
 *   take: (changes: object) => () => void, change: (changes: object) => void, restart: () => void}} VectorsAsking what
 *   a part asks with: `text` and `slider` make fields of the question, `take` fills some of them
 * @typedef {{nodes: HTMLElement[], draw: (result: WordVectors) => void}} VectorsPart
 */

const VECTORS_FIRST = lessonFirst.vectors;
const VECTORS_ANALOGIES = [
  ['a', 'b', 'c', 'expected'].map((key) => VECTORS_FIRST[key]).join(' '), 'went go see saw', 'dogs dog cat cats',
  'their they we our', 'first one three third', 'bad good hot cold', 'woman man king queen',
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
    const asking = vectorsAsking(ask);
    const kinds = [vectorsModel, vectorsNearest, vectorsAnalogy, vectorsLikeness, vectorsMap];
    const parts = kinds.map((part) => part(asking));
    root.append(
      lessonText('The first thing a model does with a token is to look up its vector: a row of the embedding matrix '
        + '(`embedding` in model/transformer.py), the same in every sentence. Nobody chose these numbers; they were '
        + 'learned with all others, and tokens that are used alike came to point the same way. How alike two '
        + 'directions are is the cosine of the angle between them: 1 the same way, 0 nothing in common, −1 opposite '
        + 'ways.'),
      ...parts.flatMap(({ nodes }) => nodes));
    asking.restart();

    return (/** @type {WordVectors} */ result) => parts.forEach(({ draw }) => draw(result));
  },
};

/** The question, whose fields ask when they change. @param {(given: object) => void} ask @returns {VectorsAsking} */
function vectorsAsking(ask) {
  let now = {};
  /** @type {Record<string, (value: any) => void>} what puts a value into the field of a key */
  const puts = {};
  const change = (changes) => {
    now = { ...now, ...changes };
    ask(now);
  };
  const text = (key, name, { tag = 'input', ...attributes } = {}) => {
    const field = make(tag, { 'aria-label': name, spellcheck: 'false', ...attributes });
    field.addEventListener('input', afterTyping(() => change({ [key]: field.value.trim() })));
    puts[key] = (value) => {
      field.value = value;
    };
    return field;
  };
  const slider = (key, name, min, max) => {
    const field = lessonSlider(name, { min, max, value: VECTORS_FIRST[key] }, (value) => change({ [key]: value }));
    puts[key] = field.put;
    return field.node;
  };
  const put = (changes) => Object.entries(changes).forEach(([key, value]) => puts[key](value));
  const take = (changes) => () => {
    put(changes);
    change(changes);
  };
  const restart = () => {
    now = {};
    take(VECTORS_FIRST)();
  };
  return { text, slider, take, change, restart };
}

/** A field for one word. @param {VectorsAsking} asking @param {string} key @param {string} name @param {number} size */
const vectorsWord = ({ text }, key, name, size) => text(key, name, { type: 'text', size, autocapitalize: 'none' });

/** Whose vectors they are. @param {VectorsAsking} asking @returns {VectorsPart} */
function vectorsModel({ change, restart }) {
  const model = make('select', { 'aria-label': 'Model', onchange: () => change({ model: model.value }) });
  const size = make('span', { class: 'at-quiet' });
  const learned = make('p', { class: 'at-quiet', role: 'status' });
  let offered = '';

  function draw(result) {
    if (offered !== String(result.models)) { // else the list may be open
      offered = String(result.models);
      model.replaceChildren(...result.models.map(([value, text]) => make('option', { value, text, title: value })));
    }
    model.value = result.model;
    size.textContent = `${counted.format(result.size[0])} tokens, each a vector of ${result.size[1]} numbers`;
    learned.textContent = VECTORS_LEARNED[result.model] ?? '';
  }

  return { nodes: [lessonRow(lessonField('Model', model), size, lessonButton('Start again', restart)), learned], draw };
}

/** What is used like a word. @param {VectorsAsking} asking @returns {VectorsPart} */
function vectorsNearest(asking) {
  const near = make('div');
  const node = lessonPart('Nearest neighbours',
    lessonText('A word is looked up as it stands inside a text, behind a space. Three dots mark tokens without '
      + 'one: they go on with a word, or begin a text.'),
    lessonField('Word', vectorsWord(asking, 'word', 'A word', 14)), near);
  const draw = ({ word, nearest }) => near.replaceChildren(vectorsCut([word]), vectorsNear(nearest));
  return { nodes: [node], draw };
}

/** What a step from one word to another leads to from a third. @param {VectorsAsking} asking @returns {VectorsPart} */
function vectorsAnalogy(asking) {
  const field = (key, name) => vectorsWord(asking, key, name, 9);
  const verdict = make('p', { class: 'at-lesson-text' });
  const found = make('div');
  const node = lessonPart('Analogies',
    lessonText('If the step from brother to sister is a direction, it should also lead from father to mother: a − '
      + 'b + c, each of length 1 (Mikolov, Yih and Zweig, 2013). The three words themselves are left out, since '
      + 'the nearest is often one of them.'),
    make('div', { class: 'at-lesson-row at-analogy' },
      field('a', 'First word'), '−', field('b', 'Without'), '+', field('c', 'And with'),
      '= is it', field('expected', 'Expected'), '?'),
    chipRow('Analogies to try', VECTORS_ANALOGIES.map((text) => {
      const [a, b, c, expected] = text.split(' ');
      return [`${a} − ${b} + ${c}`, asking.take({ a, b, c, expected })];
    })), verdict, found);

  function draw({ analogy }) {
    verdict.replaceChildren(...vectorsVerdict(analogy));
    found.replaceChildren(vectorsCut(analogy.words), vectorsNear(analogy.nearest));
  }

  return { nodes: [node], draw };
}

/** The cosines of a list of words. @param {VectorsAsking} asking @returns {VectorsPart} */
function vectorsLikeness({ text, take }) {
  const cut = make('p', { class: 'at-quiet at-cut-words' });
  const likeness = matrixTable({ caption: 'Cosine similarities' });
  const node = lessonPart('How alike words are', text('words', 'Words to compare', { tag: 'textarea', rows: 2 }),
    lessonRow(chipRow('Lists to try', VECTORS_LISTS.map(([name, words]) => [name, take({ words })]))),
    cut, likeness.node);

  function draw({ words, cosines }) {
    const names = words.map(({ text: word }) => word);
    cut.replaceChildren(vectorsCut(words));
    likeness.update(cosines, { rowNames: names, columnNames: names });
  }

  return { nodes: [node], draw };
}

/** The same words on their plane. @param {VectorsAsking} asking @returns {VectorsPart} */
function vectorsMap({ slider }) {
  const map = wordMap();
  const node = lessonPart('On a map',
    lessonText('The plane through these words that keeps most of what sets them apart (the first two principal '
      + 'components, `plane` in lesson/vectors.py). Small dots are nearest neighbours of the word that they are '
      + 'tied to, laid on the same plane.'),
    lessonRow(slider('around', 'Neighbours of each', 0, 3)), map.node);
  return { nodes: [node], draw: map.update };
}

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
