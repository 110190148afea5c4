/**
 * Learn: the course, whose questions are answered in this browser.
 */

/** @import { Tab } from '../page.js' */

import { start } from '../../../ui/learn/learn.js';
import { Course } from '../../course/answers.js';
import { downloadModel } from '../../download.js';
import { Tokenizer } from '../../text/tokenizer.js';
import { mount } from '../component.js';
import { chat, translator } from '../models.js';
import { courseFiles } from './files.js';

const VOCABULARY = 'tokenizer.json';

/** @param {Tab} tab */
export async function startTab({ panel, course: recorded }) {
  const files = courseFiles(recorded), frame = await files.open('start');
  const course = new Course(files.open, tokenizerOf);
  const lesson = mount(panel, start, 'attend-lesson', { ...frame, value: null }, {
    ask: async ({ chapter, number, inputs }) => lesson.show({ ...await course.answer(chapter, inputs), number }),
  });
  keep(files).catch(() => {}); // without a network, or a cache: what is missing is fetched when it is needed
  return { enter() {} };
}

/** All that visits without a network need. @param {ReturnType<typeof courseFiles>} files */
async function keep(files) {
  await files.keepAll();
  await Promise.all([chat, translator].map(({ name }) => tokenizerOf(name)));
}

/** @type {Map<string, Promise<Tokenizer>>} by the model */
const tokenizers = new Map();

/** A model's vocabulary, without its weights. @param {string} model */
function tokenizerOf(model) {
  const read = async () => {
    const { files } = await downloadModel(new URL(`../../../models/${model}/`, import.meta.url).href, () => {}, [VOCABULARY]);
    return new Tokenizer(JSON.parse(new TextDecoder().decode(files[VOCABULARY])));
  };
  if (!tokenizers.has(model)) tokenizers.set(model, read());
  const tokenizer = tokenizers.get(model);
  tokenizer.catch(() => tokenizers.delete(model)); // so that it is tried again
  return tokenizer;
}
