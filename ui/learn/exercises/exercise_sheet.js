/**
 * A sheet of exercises for the printer: of one chapter or of all, with the answers or without.
 *
 * @typedef {{title: string, exercises: {question: string, options: string[], on_page: string, predicted: boolean, solution?: string, explanation?: string}[]}} ChapterSheet
 */

import { make, makeButton } from '../../kit/js/dom.js';
import { CHAPTERS } from '../course.js';
import { sideBySide } from '../lesson.js';

/**
 * The buttons that print.
 * @param {string} key of the chapter
 * @param {(inputs: object, then: (reply: any) => void) => void} ask
 */
export function sheetRow(key, ask) {
  const solved = make('input', { type: 'checkbox' });
  const note = make('span', { class: 'at-quiet', role: 'status' });
  let computing = false;
  const button = (/** @type {string} */ text, /** @type {() => string[]} */ keys) => makeButton(text, () => begin(keys()));
  return sideBySide(make('span', { class: 'at-quiet', text: 'Exercises as a sheet:' }),
    button('Print this chapter', () => [key]), button('Print all chapters', () => Object.keys(CHAPTERS)),
    make('label', { class: 'at-lesson-field' }, solved, make('span', { text: 'with answers' })), note);

  /** One sheet at a time: a second click while it is computed would print it twice. @param {string[]} keys */
  async function begin(keys) {
    if (computing) return;
    computing = true;
    const sheets = await computed(keys);
    computing = false;
    if (sheets) print(sheets);
  }

  /** @param {string[]} keys @returns {Promise<ChapterSheet[] | null>} null where it failed, as the note says then */
  async function computed(keys) {
    /** @type {ChapterSheet[]} */
    const sheets = [];
    const withAnswers = solved.checked; // of all chapters, though the box may change meanwhile
    for (const [index, chapter] of keys.entries()) { // one after the other: the server computes each answer
      note.textContent = keys.length > 1 ? `Chapter ${index + 1} of ${keys.length} …` : 'Computing …';
      const { error, result } = await new Promise((then) => { ask({ chapter, solved: withAnswers }, then); });
      if (!result) {
        note.textContent = error || 'The sheet couldn’t be made. Try again.';
        return null;
      }
      sheets.push(result);
    }
    note.textContent = '';
    return sheets;
  }
}

/** @param {ChapterSheet[]} sheets */
function print(sheets) {
  document.querySelector('.at-printed')?.remove();
  const sheet = make('article', { class: 'at-printed' },
    ...sheets.map(({ title, exercises }) => make('section', {}, make('h1', { text: title }),
      make('ol', {}, ...exercises.map(printed)))));
  document.body.append(sheet); // beside the page, of which nothing else is printed then
  window.addEventListener('afterprint', () => sheet.remove(), { once: true });
  window.print();
}

/** @param {ChapterSheet['exercises'][number]} exercise */
function printed({ question, options, on_page: onPage, predicted, solution, explanation }) {
  return make('li', { class: predicted && 'at-printed-guess' }, make('p', { text: question }), onPage && make('p', {}, make('em', { text: `On the page: ${onPage}.` })),
    ...options.map((text) => make('p', { class: 'at-printed-option', text: `☐ ${text}`, dir: 'auto' })),
    solution ? make('p', {}, make('strong', { text: `Answer: ${solution}. ` }), explanation ?? '')
      : options.length ? '' : make('p', { class: 'at-printed-space', text: 'Answer:' })); // an option is ticked
}
