/**
 * The answers of the course in a browser: computed here, or those that `web/recorded_course.py` has recorded. What is
 * neither is refused with a sentence, so that no number is ever of another example. Knows no page.
 *
 * A recorded answer says only what differs from the example's, by its path: "name", or "name/inner" inside of an object.
 * @typedef {{changes: Inputs, result: Record<string, any>, without: string[]}} RecordedAnswer `without`: what the example alone has
 * @typedef {{title: string, page: import('../../ui/learn/text/chapter_text.js').ChapterPage, own: Result, answers: RecordedAnswer[], groups: string[][], fixed: string[],
 *   exercises: Record<string, Record<string, import('./exercises.js').Exercise>>}} ChapterFile `own`: the answer to its own
 *   example; `groups`: inputs that have an effect on each other; `fixed`: slots
 *   that can't be changed; `exercises`: by the model that is chosen in the chapter
 * Some inputs of a chapter, and what the browser computes from them.
 * @typedef {{inputs: string[], compute: (inputs: Inputs, context: {own: Result, tokenizer: ReadTokenizer}) => Partial<Result> | Promise<Partial<Result>>}} Section
 * @typedef {(model: string) => Promise<import('../text/tokenizer.js').Tokenizer>} ReadTokenizer
 * @typedef {Record<string, any>} Inputs
 * @typedef {{inputs: Inputs, [name: string]: any}} Result
 */

/** @import { LessonAnswer } from '../../ui/learn/learn_contract' */

import { judge, OUT_OF_DATE, sheetOf } from './exercises.js';

const UNRECORDED = 'Without a server, this page can’t compute that: it has recorded the chapter’s own example and what its lists and buttons offer. Press Reset, or reload the page; Attend itself (make run) computes anything you enter.';

const UNRECORDED_SENTENCE = 'Without a server, this page has recorded the map for this sentence only. Attend itself (make run) computes it for any.';

const NOTE = 'This page has no server. It has recorded this chapter’s own example and what the lists and buttons offer; fields that can’t be changed here are grey. Attend itself (make run) computes whatever you enter.';

const PARTLY = 'This page has no server. Your browser computes this chapter, except for the parts whose fields are grey: of these it has recorded the chapter’s own example. Attend itself (make run) computes them, too.';

/** The chapters of which parts are computed here. @type {Record<string, () => Promise<{sections: Section[]}>>} */
const LIVE = {
  tokens: () => import('./live/tokens.js'),
  attention: () => import('./live/attention.js'),
  attention_by_hand: () => import('./live/attention_by_hand.js'),
};

export class Course {
  /** @param {(name: string) => Promise<any>} open reads a recorded file @param {ReadTokenizer} tokenizer */
  constructor(open, tokenizer) {
    this.open = open;
    this.tokenizer = tokenizer;
  }

  /**
   * What `answer` in ui/learn/course.py says, in the same form.
   * @param {string} about @param {Inputs} inputs
   * @returns {Promise<LessonAnswer>}
   */
  async answer(about, inputs) {
    try {
      return { error: '', result: await this.#result(about, inputs) };
    } catch (error) {
      return { error: /** @type {Error} */ (error).message, result: null };
    }
  }

  /** @param {string} about @param {Inputs} inputs */
  async #result(about, inputs) {
    if (about === 'map') return this.#map(inputs);
    const name = ['text', 'exercises', 'sheet'].includes(about) ? inputs.chapter : about;
    /** @type {ChapterFile} */
    const file = await this.open(name);
    switch (about) {
      case 'text': return noted(file, await sectionsOf(name));
      case 'sheet': return sheetOf(file, inputs.solved === true);
      case 'exercises': return judge(file, inputs, (state) => this.#chapter(name, file, state));
      default: return this.#chapter(name, file, inputs);
    }
  }

  /** @param {string} name @param {ChapterFile} file @param {Inputs} values @returns {Promise<Result>} */
  async #chapter(name, file, values) {
    const { own, answers, groups } = file, changes = changesOf(own.inputs, values), sections = await sectionsOf(name);
    const live = sections.filter(({ inputs }) => inputs.some((one) => one in changes)), computed = live.flatMap(({ inputs }) => inputs);
    const others = within(changes, Object.keys(changes).filter((one) => !computed.includes(one)));
    const whole = recordedFor(answers, others);
    const parts = whole ? [whole] : groups.map((group) => recordedFor(answers, within(others, group)));
    const known = Object.keys(others).every((one) => whole || groups.some((group) => group.includes(one)));
    if (!known || parts.includes(undefined)) throw new Error(UNRECORDED);
    const result = merged(own, ...parts), entered = within({ ...own.inputs, ...changes }, computed);
    Object.assign(result, entered);
    for (const section of live) Object.assign(result, await section.compute(entered, { own, tokenizer: this.tokenizer }));
    for (const one of computed) result.inputs[one] = result[one];
    return { ...result, fixed: fixedIn(file, sections) };
  }

  /**
   * A part that is recorded in the first layer and head alone is shown there, as the lists beside it say.
   * @param {Inputs} inputs
   */
  async #map({ model, form, part, ...inputs }) {
    /** @type {Record<string, {own: Result, answers: RecordedAnswer[]}>} */
    const maps = await this.open('map');
    const name = model ?? Object.keys(maps).find((one) => form !== 'both' || maps[one].own.translation !== null);
    if (!Object.hasOwn(maps, name)) throw new Error(OUT_OF_DATE);
    const { own, answers } = maps[name];
    const changes = changesOf(own, { ...inputs, ...(part && { part: nearestPart(part, Object.keys(own.parts), own.part) }) });
    if ('sentence' in changes || 'translation' in changes) throw new Error(UNRECORDED_SENTENCE);
    return merged(own, recordedFor(answers, changes) ?? recordedFor(answers, within(changes, ['part'])));
  }
}

/** @param {string} name of a chapter */
const sectionsOf = async (name) => (await LIVE[name]?.())?.sections ?? [];

/** The slots that nothing answers. @param {ChapterFile} file @param {Section[]} sections */
function fixedIn({ fixed, page }, sections) {
  const live = sections.flatMap(({ inputs }) => inputs);
  return fixed.filter((slot) => !live.includes(page.slots[slot].edits || slot.split('.')[0]));
}

/** A chapter's text, which begins by saying what can't be changed. @param {ChapterFile} file @param {Section[]} sections */
function noted(file, sections) {
  if (!fixedIn(file, sections).length) return file.page;
  return { ...file.page, blocks: [{ kind: 'text', quiet: true, parts: [sections.length ? PARTLY : NOTE] }, ...file.page.blocks] };
}

/** What was asked that is not so in the example. @param {Inputs} own @param {Inputs} values @returns {Inputs} */
const changesOf = (own, values) => Object.fromEntries(Object.entries(values).filter(([name, value]) =>
  name !== 'chapter' && value !== undefined && value !== null && !isSame(value, own[name])));

/** @param {Inputs} changes @param {string[]} group */
const within = (changes, group) => Object.fromEntries(Object.entries(changes).filter(([name]) => group.includes(name)));

/**
 * What differs in the answer to these changes; undefined where it is not recorded.
 * @param {RecordedAnswer[]} answers @param {Inputs} changes
 */
function recordedFor(answers, changes) {
  const names = Object.keys(changes);
  if (!names.length) return { result: {}, without: [] };
  return answers.find((one) => Object.keys(one.changes).length === names.length
    && names.every((name) => isSame(one.changes[name], changes[name])));
}

/** @param {any} one @param {any} other */
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** @param {Result} own @param {...Pick<RecordedAnswer, 'result' | 'without'>} answers that differ from it @returns {Result} */
function merged(own, ...answers) {
  const result = structuredClone(own);
  for (const { result: differs, without } of answers) {
    for (const path of without) place(path, (object, name) => delete object[name]);
    for (const [path, value] of Object.entries(differs)) place(path, (object, name) => { object[name] = value; });
  }
  return result;

  /** @param {string} path @param {(object: Record<string, any>, name: string) => void} change */
  function place(path, change) {
    const [name, inner] = path.split('/');
    if (inner === undefined) return change(result, name);
    if (!isObject(result[name])) result[name] = {};
    change(result[name], inner);
  }
}

/** @param {any} value */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The part of a map that does what a part of another one does, as in ui/learn/map/answer.py.
 * @param {string} part @param {string[]} parts of the map @param {string} first
 */
function nearestPart(part, parts, first) {
  const [side, kind] = part.split('.');
  const alike = [kind, kind.replace(/^cross_/, ''), 'cross_projections', kind.endsWith('norm') ? 'norms' : 'projections'];
  return parts.includes(part) ? part : alike.flatMap((name) => [`${side}.${name}`, `decoder.${name}`]).find((name) => parts.includes(name)) ?? first;
}
