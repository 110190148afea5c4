/**
 * Words as vectors: neighbours, analogies, likeness and a map, from a model's own embedding matrix.
 *
 * @typedef {{text: string, pieces: string[]}} SpelledWord
 * @typedef {{model: string, models: [name: string, called: string][], size: [number, number],
 *   baseline: {words: number, mean: number, low: number, high: number} | null, word: SpelledWord,
 *   nearest: [string, number][], analogy: {words: SpelledWord[], nearest: [string, number][],
 *   expected: SpelledWord | null, rank: number | null, rank_without: number | null}, words: SpelledWord[], around: number, cosines: number[][],
 *   points: [number, number][], neighbours: [string, number, number, number][], shares: [number, number]}} WordVectors
 * @typedef {{first: any, text: (key: string, name: string, attributes?: object) => HTMLElement,
 *   slider: (key: string, name: string, min: number, max: number) => HTMLElement,
 *   take: (changes: object) => () => void, change: (changes: object) => void, restart: () => void}} VectorsControls what
 *   a part is made with: `text` and `slider` make fields of the question, `take` fills some of them
 * @typedef {{nodes: HTMLElement[], draw: (result: WordVectors) => void}} VectorsPart
 */

import { make } from '../../kit/js/dom.js';
import { counted, signed, visibleText } from '../../kit/js/text.js';
import { plainButton, labelled, lessonPart, sideBySide, numberSlider, paragraph } from '../lesson.js';
import { matrixTable } from '../matrix.js';
import { debounced, chipRow, extentBar, tokenName } from '../pieces.js';
import { wordMap } from '../word_map.js';

const ANALOGIES = [
  'these this that those', 'his he they their', 'two first third three', 'mother father brother sister',
  'bad good hot cold',
];
const LISTS = [
  ['Present and past', 'is was, are were, go went, have had, do did, say said, see saw, know knew, think thought'],
  ['Who', 'he she his her him they them their, mother father sister brother, boy girl man woman'],
  ['How many', 'one two three four five six ten, first second third, some many several few, once twice'],
];

const LEARNED = {
  'attend-translate': 'Its vectors were learned from 136,657 short sentence pairs, so expect less structure in '
    + 'them.',
};

/** @type {import('../lesson.js').Build} */
export function build(root, ask, first) {
  const controls = makeQuestion(ask, first);
  const kinds = [modelPart, nearestPart, analogyPart, likenessPart, mapPart];
  const parts = kinds.map((part) => part(controls));
  root.append(
    paragraph('The first thing a model does with a token is to look up its vector: a row of the embedding '
      + 'matrix (`embedding` in model/transformer/decoder.py), the same in every sentence. Nobody chose these '
      + 'numbers. They were learned in training, and tokens that are used alike ended up pointing in similar '
      + 'directions. The cosine of the angle between two vectors measures this: 1 means the same direction, 0 '
      + 'a right angle, −1 opposite directions.'),
    ...parts.flatMap(({ nodes }) => nodes));
  controls.restart();

  return (/** @type {WordVectors} */ result) => parts.forEach(({ draw }) => draw(result));
}

/** The fields of a question, which ask again when they change. @param {(given: object) => void} ask @param {any} first
 *   what its fields hold at first @returns {VectorsControls} */
function makeQuestion(ask, first) {
  let now = {};
  /** @type {Record<string, (value: any) => void>} what puts a value into the field of a key */
  const puts = {};
  const change = (changes) => {
    now = { ...now, ...changes };
    ask(now);
  };
  const text = (key, name, { tag = 'input', ...attributes } = {}) => {
    const field = make(/** @type {'input' | 'textarea'} */ (tag), { 'aria-label': name, spellcheck: 'false', ...attributes });
    field.addEventListener('input', debounced(() => change({ [key]: field.value.trim() })));
    puts[key] = (value) => {
      field.value = value;
    };
    return field;
  };
  const slider = (key, name, min, max) => {
    const field = numberSlider(name, { min, max, value: first[key] }, (value) => change({ [key]: value }));
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
    take(first)();
  };
  return { first, text, slider, take, change, restart };
}

/** A field for one word. @param {VectorsControls} controls @param {string} key @param {string} name @param {number} size */
const wordField = ({ text }, key, name, size) => text(key, name, { type: 'text', size, autocapitalize: 'none' });

/** The choice of the model. @param {VectorsControls} controls @returns {VectorsPart} */
function modelPart({ change, restart }) {
  const model = make('select', { 'aria-label': 'Model', onchange: () => change({ model: model.value }) });
  const size = make('span', { class: 'at-quiet' });
  const learned = make('p', { class: 'at-quiet', role: 'status' });
  const chance = make('p', { class: 'at-lesson-text' });
  let offered = '';

  function draw(result) {
    if (offered !== String(result.models)) { // else the list may be open
      offered = String(result.models);
      model.replaceChildren(...result.models.map(([value, text]) => make('option', { value, text, title: value })));
    }
    model.value = result.model;
    size.textContent = `${counted.format(result.size[0])} tokens, each a vector of ${result.size[1]} numbers`;
    learned.textContent = LEARNED[result.model] ?? '';
    chance.textContent = result.baseline ? baselineText(result.baseline) : '';
  }

  return { nodes: [sideBySide(labelled('Model', model), size, plainButton('Reset', restart)), learned, chance], draw };
}

/** The nearest neighbours of a word. @param {VectorsControls} controls @returns {VectorsPart} */
function nearestPart(controls) {
  const near = make('div');
  const node = lessonPart('Nearest neighbours',
    paragraph('A word is looked up the way it appears inside a text, after a space. Three dots mark tokens '
      + 'without a space: they continue a word or begin a text.'),
    labelled('Word', wordField(controls, 'word', 'A word', 14)), near);
  const draw = ({ word, nearest }) => near.replaceChildren(piecesNote([word]), nearestList(nearest));
  return { nodes: [node], draw };
}

/** Analogies: a − b + c. @param {VectorsControls} controls @returns {VectorsPart} */
function analogyPart(controls) {
  const field = (key, name) => wordField(controls, key, name, 9);
  const verdict = make('p', { class: 'at-lesson-text' });
  const found = make('div');
  const example = ['a', 'b', 'c', 'expected'].map((key) => controls.first[key]).join(' ');
  const node = lessonPart('Analogies',
    paragraph('If the step from go to going is a direction, it should also lead from come to coming: a − b + c, '
      + 'each scaled to length 1 (Mikolov, Yih and Zweig, 2013). The three words themselves are left out, because '
      + 'the nearest word is often one of them. The control is c alone: where it leads to the same word, the step '
      + 'has shown nothing (Linzen, 2016).'),
    make('div', { class: 'at-lesson-row at-analogy' },
      field('a', 'First word'), '−', field('b', 'Minus'), '+', field('c', 'Plus'),
      '≈', field('expected', 'Expected'), '?'),
    chipRow('Analogies to try', [example, ...ANALOGIES].map((text) => {
      const [a, b, c, expected] = text.split(' ');
      return [`${a} − ${b} + ${c}`, controls.take({ a, b, c, expected })];
    })), verdict, found);

  function draw({ analogy }) {
    verdict.replaceChildren(...analogyVerdict(analogy));
    found.replaceChildren(piecesNote(analogy.words), nearestList(analogy.nearest));
  }

  return { nodes: [node], draw };
}

/** The cosines of a list of words. @param {VectorsControls} controls @returns {VectorsPart} */
function likenessPart({ first, text, take }) {
  const cut = make('p', { class: 'at-quiet at-cut-words' });
  const likeness = matrixTable({ caption: 'Cosine similarities' });
  const node = lessonPart('How similar words are', text('words', 'Words to compare', { tag: 'textarea', rows: 2 }),
    sideBySide(chipRow('Lists to try', [['Four families', first.words], ...LISTS].map(([name, words]) => [name, take({ words })]))),
    cut, likeness.node);

  function draw({ words, cosines }) {
    const names = words.map(({ text: word }) => word);
    cut.replaceChildren(piecesNote(words));
    likeness.update(cosines, { rowNames: names, columnNames: names });
  }

  return { nodes: [node], draw };
}

/** The same words on a map. @param {VectorsControls} controls @returns {VectorsPart} */
function mapPart({ slider }) {
  const map = wordMap();
  const node = lessonPart('Word map',
    paragraph('The plane through these words that keeps as much of their differences as possible (the first two '
      + 'principal components, `plane` in lesson/vectors.py). Small dots are the nearest neighbours of the word '
      + 'they are connected to, projected onto the same plane.'),
    sideBySide(slider('around', 'Neighbours of each', 0, 3)), map.node);
  return { nodes: [node], draw: map.update };
}

/** @param {[string, number][]} nearest tokens with their cosines */
const nearestList = (nearest) => make('ol', { class: 'at-near' }, ...nearest.map(([text, cosine]) => make('li', {},
  tokenName(text), extentBar(cosine), make('span', { class: 'at-near-number', text: signed(cosine.toFixed(2)) }))));

/** The words that are more than one token. @param {SpelledWord[]} words */
function piecesNote(words) {
  const cut = words.filter(({ pieces }) => pieces.length > 1);
  if (!cut.length) return make('span', {});
  const label = (piece) => visibleText(piece.trim() || piece);
  const cuts = cut.map(({ text, pieces }) => `${text} = ${pieces.map(label).join(' + ')}`).join('; ');
  const text = `Not a single token, so the average of its pieces’ vectors is used. It may say little about the word `
    + `itself (nothing, if the pieces are single bytes): ${cuts}.`;
  return make('span', { class: 'at-quiet', text });
}

/** What cosines are by chance. @param {WordVectors['baseline']} baseline */
function baselineText({ words, mean, low, high }) {
  const [middle, least, most] = [mean, low, high].map((cosine) => signed(cosine.toFixed(2)));
  return `What counts as similar? Of ${counted.format(words)} words drawn at random, two have a cosine of ${middle} on average, and `
    + `nine pairs in ten lie between ${least} and ${most}. So a cosine says little by itself: compare it with these.`;
}

/** @param {WordVectors['analogy']} analogy @returns {(Node | string)[]} */
function analogyVerdict({ words, nearest, expected, rank, rank_without: without }) {
  const sum = `${words[0].text} − ${words[1].text} + ${words[2].text}`;
  if (!nearest.length) return [`${sum} is not near any word.`];
  const first = make('strong', {}, tokenName(nearest[0][0]));
  if (!expected) return [`${sum} is nearest to `, first, '.'];
  if (rank === 1) return [`${sum} is nearest to `, first, `, as expected. ${controlText(words[2].text, without)}`];
  const never = expected.pieces.length > 1 ? 'it is not a single token of this model' : 'it is one of the three';
  const where = rank
    ? `“${expected.text}” is number ${counted.format(rank)}.` : `“${expected.text}” is left out: ${never}.`;
  return [`${sum} is nearest to `, first, `; ${where} A model learns such analogies only from many sentences, if at all.`];
}

/** What the analogy adds to its third word alone. @param {string} word @param {number | null} rank of the expected word */
function controlText(word, rank) {
  if (rank === 1) return `But so is “${word}” alone, without the step: this analogy shows nothing.`;
  return `To “${word}” alone, it is only number ${counted.format(rank)}: the step made the difference.`;
}
