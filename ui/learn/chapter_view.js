/**
 * A chapter on the page: its text with its questions to the server, and its exercises.
 *
 * @typedef {{key: string, chapter: import('./course.js').Chapter, input: object,
 *   questions: import('../kit/js/questions.js').Questions, onSolved: () => void,
 *   forms: Record<string, import('./map/drawing.js').MapSide[]>, openMap: (part: string, form: string) => void}} ChapterWiring `input`: what a
 *   link fills in instead of the chapter's own example; `forms`: the small forms of the map, by their names
 */

import { make } from '../kit/js/dom.js';
import { chapterText } from './text/chapter_text.js';
import { exercises as exercisesOf } from './exercises/exercises.js';
import { tidySolved } from './exercises/progress.js';
import { sheetRow } from './exercises/exercise_sheet.js';
import { fitting, inputText } from './input.js';
import { placeOnMap } from './map/place.js';
import { SCRIPTS } from './course.js';
import { lessonView } from './view.js';

const ONCE = ['measure', 'to_end']; // what a button asks for once: neither a check nor a link does it again
const LOCAL = ['encoder']; // what only this server has under its name: no link carries it
const RETRY_MS = 60_000; // of an exercise: longer than its answer takes to compute

/** @param {ChapterWiring} wiring */
export function chapterView({ key, chapter, input, questions, onSolved, forms, openMap }) {
  const { node, refused, links, question, refuse } = lessonView({
    key, title: chapter.title, questions, numbers: () => inputText(without(now, LOCAL), page?.first ?? {}),
  }, chapter.aim, make('span', { text: `About ${chapter.minutes} minutes, then exercises` }));
  const inside = make('div', { class: `at-lesson-inside at-lesson-${key}` });
  const askAbout = (/** @type {string} */ about) => (/** @type {object} */ inputs, /** @type {(reply: any) => void} */ then) =>
    questions.ask('ask', { chapter: about, inputs: { chapter: key, ...inputs } }, then, {}, RETRY_MS);
  const exercises = exercisesOf({
    chapter: key,
    ask: askAbout('exercises'),
    state: () => now,
    put: begin,
    onSolved,
  });
  if (chapter.here) node.append(placeOnMap(forms[chapter.here.form], chapter.here, (part) => openMap(part, chapter.here.form)));
  node.append(refused, inside, exercises.node, sheetRow(key, askAbout('sheet')), links);
  /** @type {import('./text/chapter_text.js').ChapterPage} */
  let page;
  /** @type {import('./text/chapter_text.js').ChapterScript} */
  let script;
  /** @type {ReturnType<typeof chapterText>} */
  let text;
  /** @type {Record<string, any>} what was asked last */
  let now = {};

  const fetched = SCRIPTS[key]?.() ?? Promise.resolve({});
  question('text', { chapter: key }, async (result) => {
    page = result;
    tidySolved(key, page.exercises);
    onSolved();
    try {
      script = await fetched;
    } catch {
      return refuse('This chapter couldn’t be loaded: check the connection, then reload the page.');
    }
    begin(input);
  });

  /** Show the chapter with other values than its own. @param {Record<string, any>} changed */
  function begin(changed) {
    text = chapterText(inside, page, script, ask, (name, rest) => exercises.prediction(page.exercises, name, rest));
    ask(changed);
    text.put(page.first, fitting(changed, page.first)); // what doesn't fit, the answer refuses
  }

  /** @param {Record<string, any>} inputs */
  function ask(inputs) {
    now = without(inputs, ONCE);
    question(key, inputs, (result) => {
      text.draw(result);
      exercises.begin(page.exercises);
    });
  }

  return { node };
}

/** @param {Record<string, any>} inputs @param {string[]} names */
const without = (inputs, names) => Object.fromEntries(Object.entries(inputs).filter(([name]) => !names.includes(name)));
