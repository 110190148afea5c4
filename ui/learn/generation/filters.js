/**
 * What the settings do to one step: five sliders, and every word's probability before and after.
 */

/** @import { GenerationControls, GenerationPart } from './chapter.js' */

import { changeList, changeRow } from '../../kit/js/change_bars.js';
import { headCell, make, makeTable } from '../../kit/js/dom.js';
import { percent } from '../../kit/js/text.js';
import { lessonPart, numberSlider, paragraph, sideBySide } from '../lesson.js';
import { matrixTable } from '../matrix.js';
import { chipRow } from '../pieces.js';

const EFFECTS = { // of each slider, in a few words
  temperature: 'Divides every logit. 1 changes nothing.',
  top_k: 'Keeps the k most probable words. 0 keeps all.',
  top_p: 'Keeps the most probable words until they add up to p or more. 1 keeps all.',
  frequency_penalty: 'Subtracted from a word’s logit each time it was used.',
  presence_penalty: 'Subtracted once if the word was used at all.',
};
/** @type {[string, Record<string, number>][]} what to try */
const EXAMPLES = [
  ['temperature 0.1', { temperature: 0.1 }], ['temperature 5', { temperature: 5 }], ['top-k 3', { top_k: 3 }],
  ['top-p 0.9', { top_p: 0.9 }], ['frequency penalty 1', { frequency_penalty: 1 }], ['all off', {}],
];

/** @param {GenerationControls} controls @returns {GenerationPart} */
export function filtersPart({ change, latest, form: { sliders, vocabulary } }) {
  const off = Object.fromEntries(sliders.map(({ name, default: value }) => [name, value]));
  const numbers = (key, caption, digits) => matrixTable({
    caption, columnNames: vocabulary, digits, scale: 'plain', editable: true,
    onEdit: (_, column, value) => change({ [key]: [latest(key)[0].with(column, value)] }),
  });
  const tables = { logits: numbers('logits', 'Logits', 2), used: numbers('used', 'Times used so far', 0) };
  const fields = sliders.map(({ name, label, minimum: min, maximum: max, step, default: value }) => ({
    name, effect: EFFECTS[name], ...numberSlider(label, { min, max, step, value }, (moved) => change({ [name]: moved })),
  }));
  const reset = make('button', {
    type: 'button', class: 'at-plain', text: 'Reset', onclick: () => {
      Object.values(tables).forEach((table) => table.forget());
      change({ ...off, logits: undefined, used: undefined });
    },
  });
  const list = changeList('Probability of each word, before and after');
  const heads = make('div', { class: 'at-gen-heads at-quiet', 'aria-hidden': 'true' },
    make('span'), make('span'), make('span', { text: 'before' }), make('span', { text: 'after' }));
  const stages = make('div', { class: 'at-small-scroll' });
  const node = lessonPart('What the settings do to one step',
    paragraph('Nine words and their logits after “every effort moves you”, from Raschka’s “Build a Large Language '
      + 'Model (From Scratch)” (2024, section 5.3.1). Softmax turns them into probabilities: the grey bars. The '
      + 'settings change logits or remove words, and then softmax gives the blue bars. How often each word was used '
      + 'so far is our addition; only the two penalties count it.'),
    make('div', { class: 'at-tables at-gen-logits' }, tables.logits.node, tables.used.node),
    sideBySide(chipRow('Examples', EXAMPLES.map(([text, values]) => [text, () => change({ ...off, ...values })])), reset),
    make('div', { class: 'at-gen-filters' },
      make('div', { class: 'at-gen-sliders' }, ...fields.map(({ node: field, effect }) =>
        make('div', {}, field, make('p', { class: 'at-quiet', text: effect })))),
      make('div', { class: 'at-gen-bars' }, make('div', {}, heads, list), stages)),
    paragraph('They run in this order: penalties, temperature, top-k, top-p. The order matters: the higher the '
      + 'temperature, the more words top-p may need to reach p. Some lectures let the temperature go from 0 to 1, but '
      + 'it has no upper limit: the higher it is, the closer all probabilities come to each other. Towards 0, the most '
      + 'probable word takes everything, as in greedy decoding.'),
    make('p', { class: 'at-quiet at-gen-sources', text: 'Sources: temperature, Ackley, Hinton and Sejnowski (1985); top-k, Fan, '
      + 'Lewis and Dauphin (2018); top-p or nucleus sampling, Holtzman et al. (2020); the penalties are those of '
      + 'OpenAI’s API.' }));

  function draw({ filters }) {
    Object.entries(tables).forEach(([key, table]) => table.update(filters[key]));
    fields.forEach(({ name, put }) => put(filters[name]));
    const largest = Math.max(...filters.bars.flatMap(({ before, after }) => [before, after]));
    list.replaceChildren(...filters.bars.map(({ word, before, after, cut }) => changeRow(make('span', { text: word }),
      { name: word, before, after, largest, gone: cut && `cut by ${cut.toLowerCase()}`, written: percent, both: true })));
    const head = ['Setting', 'Words left', 'Probability removed'].map((text) => headCell('col', text));
    stages.hidden = !filters.stages.length;
    stages.replaceChildren(makeTable({ class: 'at-small' }, head, filters.stages.map((cells) => make('tr', {},
      ...[cells[0], cells[1], percent(1 - cells[2])].map((text) => make('td', { text }))))));
  }

  return { nodes: [node], draw };
}
