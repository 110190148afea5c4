/**
 * What surrounds a chapter and the map: the title, whether something is computed, what was refused, and links to what is
 * shown; and how both ask the server.
 */

/** @import { LessonValue } from './learn_contract' */

import { withParts } from '../kit/address/address.js';
import { make, makeButton } from '../kit/js/dom.js';
import { classLinkWanted } from '../kit/js/signals.js';
import { copy } from '../kit/js/transfer.js';
import { makeClassButton } from '../kit/parts/class_button.js';
import { MAX_INPUT } from './input.js';
import { sideBySide } from './lesson.js';
import { newestOnly } from './newest.js';

const PATIENCE_MS = 300; // before it says that something is computed

/**
 * @param {{key: string, title: string, questions: import('../kit/js/questions.js').Questions, numbers: () => string | null}} wiring
 *   `numbers`: what a link holds of the input
 * @param {...(Node | string)} aim
 */
export function lessonView({ key, title, questions, numbers }, ...aim) {
  const refused = make('p', { class: 'at-lesson-refused', role: 'alert', hidden: true });
  const waits = make('p', { class: 'at-quiet at-lesson-waits', role: 'status' });
  const link = makeButton('Copy a link to this page', () => withLink((address) => copy(address, link)));
  const links = sideBySide(link, makeClassButton(() => withLink((address) => classLinkWanted.publish(address))));
  const node = make('section', { class: 'at-lesson-chapter', 'aria-label': title },
    make('div', { class: 'at-lesson-top' }, make('h2', { text: title, tabindex: -1 }), waits),
    make('p', { class: 'at-row at-wrap at-quiet at-lesson-aim' }, ...aim));
  const askNewest = newestOnly(questions);
  let patience = 0;

  /** @param {string} about @param {object} inputs @param {(result: any) => void} then */
  function question(about, inputs, then) {
    clearTimeout(patience);
    patience = setTimeout(() => {
      waits.textContent = 'Computing …';
    }, PATIENCE_MS);
    askNewest('ask', { chapter: about, inputs }, (/** @type {LessonValue} */ { error = '', result }) => {
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
    const text = numbers();
    if (text && text.length > MAX_INPUT) {
      return refuse(`Your numbers take ${text.length.toLocaleString('en-GB')} characters, but a link holds `
        + `${MAX_INPUT.toLocaleString('en-GB')}: change fewer of them.`);
    }
    use(withParts(location.href, { tab: 'Learn', chapter: key, numbers: text }));
  }

  return { node, refused, links, question, refuse };
}
