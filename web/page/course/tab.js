/**
 * Learn: the course, whose questions are answered in this browser.
 */

/** @import { Tab } from '../page.js' */

import { start } from '../../../ui/learn/learn.js';
import { make } from '../../../ui/kit/js/dom.js';
import { Course } from '../../course/answers.js';
import { mount } from '../component.js';
import { courseFiles } from './files.js';

/** @param {Tab} tab */
export async function startTab({ panel, course: recorded }) {
  const files = courseFiles(recorded);
  const problem = make('p', { role: 'status' });
  panel.append(problem);
  try {
    const { chapters, forms } = await files.open('start');
    const course = new Course(files.open);
    const lesson = mount(panel, start, 'attend-lesson', { chapters, forms, value: null }, {
      ask: async ({ chapter, number, inputs }) => lesson.show({ ...await course.answer(chapter, inputs), number }),
    });
    files.keepAll().catch(() => {}); // without a network, or a cache: what is missing is fetched when it is opened
  } catch (error) {
    problem.textContent = /** @type {Error} */ (error).message;
  }
  return { enter() {} };
}
