/**
 * What a chapter was last computed from, and the fields and tables with which a reader changes it.
 *
 * @typedef {import('./matrix.js').MatrixNames} MatrixNames
 * @typedef {ReturnType<typeof chapterInput>} ChapterInput
 */

import { make } from '../kit/js/dom.js';
import { labelled, plainButton } from './lesson.js';
import { matrixTable } from './matrix.js';

/** @param {(given: object) => void} ask of the chapter */
export function chapterInput(ask) {
  /** @type {Record<string, any>} */
  let now = {};
  /** @type {Map<string, ReturnType<typeof matrixTable>>} */
  const tables = new Map();
  /** @type {Map<string, HTMLInputElement>} */
  const fields = new Map();

  /** @param {object} changes asks again, with everything else as it was */
  function change(changes) {
    now = { ...now, ...changes };
    ask(now);
  }

  /** An editable table. @param {string} key @param {string} caption @param {MatrixNames} names */
  function numbers(key, caption, names = {}) {
    const onEdit = (row, column, value) => change({
      [key]: now[key].map((line, i) => (i === row ? line.with(column, value) : line)),
    });
    const table = matrixTable({ caption, ...names, scale: 'plain', editable: true, onEdit });
    tables.set(key, table);
    return table;
  }

  /** A line of text with its name. @param {string} key @param {string} name @param {Record<string, any>} attributes */
  function typed(key, name, attributes = {}) {
    const field = make('input', { type: 'text', ...attributes, onchange: () => change({ [key]: field.value }) });
    fields.set(key, field);
    return labelled(name, field);
  }

  /** Back to the chapter's own example. */
  const reset = plainButton('Reset', () => {
    tables.forEach((table) => table.forget());
    ask({});
  });

  /**
   * Shows what a result was computed from.
   * @param {Record<string, any>} input @param {Record<string, MatrixNames>} names of tables whose names changed
   */
  function update(input, names = {}) {
    now = input;
    tables.forEach((table, key) => table.update(now[key], names[key]));
    fields.forEach((field, key) => {
      field.value = now[key];
    });
  }

  return { change, numbers, typed, reset, update };
}

/** The part of a result that it was computed from. @param {Record<string, any>} result @param {string[]} keys */
export const inputOf = (result, keys) => Object.fromEntries(keys.map((key) => [key, result[key]]));
