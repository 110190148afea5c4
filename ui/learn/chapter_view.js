/**
 * A chapter on the page: its heading and aim, its questions to the server, its exercises, and the link to what it shows.
 *
 * @typedef {{key: string, chapter: import('./course.js').Chapter, input: object,
 *   questions: import('../kit/js/questions.js').Questions, onSolved: () => void,
 *   forms: Record<string, import('./map/drawing.js').MapSide[]>, openMap: (part: string, form: string) => void}} ChapterWiring `input`: what a
 *   link fills in instead of the chapter's own example; `forms`: the small forms of the map, by their names
 */

/** @import { LessonValue } from './learn_contract' */

import { withParts } from '../kit/address/address.js';
import { make } from '../kit/js/dom.js';
import { classLinkWanted } from '../kit/js/signals.js';
import { copy } from '../kit/js/transfer.js';
import { makeClassButton } from '../kit/parts/class_button.js';
import { chapterText } from './text/chapter_text.js';
import { exercises as exercisesOf } from './exercises/exercises.js';
import { tidySolved } from './exercises/progress.js';
import { sheetRow } from './exercises/sheet.js';
import { fitting, inputText, MAX_INPUT } from './input.js';
import { plainButton, sideBySide } from './lesson.js';
import { placeOnMap } from './map/place.js';
import { newestOnly } from './newest.js';
import { SCRIPTS } from './course.js';

const ONCE = ['measure', 'to_end']; // what a button asks for once: neither a check nor a link does it again
const LOCAL = ['encoder']; // what only this server has under its name: no link carries it
const PATIENCE_MS = 300; // before the chapter says that it is computing
const RETRY_MS = 60_000; // of an exercise: longer than its answer takes to compute

/** @param {ChapterWiring} wiring */
export function chapterView({ key, chapter, input, questions, onSolved, forms, openMap }) {
  const refused = make('p', { class: 'at-lesson-refused', role: 'alert', hidden: true });
  const waits = make('p', { class: 'at-quiet at-lesson-waits', role: 'status' });
  const inside = make('div', { class: `at-lesson-inside at-lesson-${key}` });
  const asked = (/** @type {string} */ about) => (/** @type {object} */ inputs, /** @type {(reply: any) => void} */ then) =>
    questions.ask('ask', { chapter: about, inputs: { chapter: key, ...inputs } }, then, {}, RETRY_MS);
  const askNewest = newestOnly(questions);
  const exercises = exercisesOf({
    chapter: key,
    ask: asked('exercises'),
    state: () => now,
    put: begin,
    onSolved,
  });
  const link = plainButton('Copy a link to this page', () => withLink((address) => copy(address, link)));
  const classLink = makeClassButton(() => withLink((address) => classLinkWanted.publish(address)));
  const node = make('section', { class: 'at-lesson-chapter', 'aria-label': chapter.title },
    make('div', { class: 'at-lesson-top' }, make('h2', { text: chapter.title, tabindex: -1 }), waits),
    make('p', { class: 'at-lesson-aim' }, chapter.aim, make('span', { class: 'at-quiet', text: `About ${chapter.minutes} minutes, then exercises` })),
    ...(chapter.here ? [placeOnMap(forms[chapter.here.form], chapter.here, (part) => openMap(part, chapter.here.form))] : []), refused, inside, exercises.node,
    sheetRow(key, asked('sheet')), sideBySide(link, classLink));
  /** @type {import('./text/chapter_text.js').ChapterPage} */
  let page;
  /** @type {import('./text/chapter_text.js').ChapterScript} */
  let script;
  /** @type {ReturnType<typeof chapterText>} */
  let text;
  /** @type {Record<string, any>} what was asked last */
  let now = {};
  let patience = 0;

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
    now = Object.fromEntries(Object.entries(inputs).filter(([name]) => !ONCE.includes(name)));
    question(key, inputs, (result) => {
      text.draw(result);
      exercises.begin(page.exercises);
    });
  }

  /** @param {string} about @param {object} inputs @param {(result: any) => void} then */
  function question(about, inputs, then) {
    clearTimeout(patience);
    patience = setTimeout(() => {
      waits.textContent = 'Computing …';
    }, PATIENCE_MS);
    askNewest('ask', { chapter: about, inputs }, (/** @type {LessonValue} */ { error, result }) => {
      clearTimeout(patience);
      waits.textContent = '';
      refuse(error); // neither a result nor a refusal: something went wrong
      if (result) then(result);
    });
  }

  /** @param {string} error empty where nothing is wrong */
  function refuse(error) {
    refused.textContent = error;
    refused.hidden = !error;
  }

  /** @param {(address: string) => void} use is given the link, unless it would be too long */
  function withLink(use) {
    const own = Object.fromEntries(Object.entries(now).filter(([name]) => !LOCAL.includes(name)));
    const numbers = inputText(own, page?.first ?? {});
    if (numbers && numbers.length > MAX_INPUT) {
      return refuse(`Your numbers take ${numbers.length.toLocaleString('en-GB')} characters, but a link holds `
        + `${MAX_INPUT.toLocaleString('en-GB')}: change fewer of them.`);
    }
    use(withParts(location.href, { tab: 'Learn', chapter: key, numbers }));
  }

  return { node };
}
