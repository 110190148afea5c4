/**
 * The page in a class: what a teacher's link hides and fixes, guessing, and the presentation. `data-class` of the body says for
 * the styles what its students see.
 */

import { hasOneText, readClass } from '../kit/address/class_part.js';
import { takePart } from '../kit/address/address.js';
import { offerGuessing } from './guessing.js';
import { present } from './presenter.js';
import { offerClassLinks } from './sheet.js';

/**
 * @param {string} boxes the selector of the boxes for texts
 * @returns {import('../kit/address/class_part.js').Classroom | null} the class whose link the page was opened with
 */
export function enterClass(boxes) {
  const part = takePart('class', (text) => readClass(text) !== null);
  if (part === null) {
    offerClassLinks();
    return null;
  }
  const classroom = readClass(part);
  const { name, words } = classroom;
  document.body.dataset.class = words.join(' ');
  if (!words.includes('write')) {
    for (const box of /** @type {NodeListOf<HTMLTextAreaElement>} */ (document.querySelectorAll(boxes))) box.readOnly = true;
  }
  const hasTexts = document.querySelector('#attend-main'); // the page of an encoder has none
  if (hasTexts && words.includes('guess')) offerGuessing(hasOneText(words) ? (guess) => gather(name, guess) : async () => ({})); // else there is no mean
  if (words.includes('present')) present();
  return classroom;
}

/**
 * Add a guess to those of the class.
 * @param {string} name
 * @param {import('./score_table.js').Guess} guess
 * @returns {Promise<import('./score_table.js').Means>} none where no server gathers them
 */
async function gather(name, { token, bits }) {
  try {
    const body = JSON.stringify({ name, token, bits });
    const reply = await fetch(new URL('class-scores', document.baseURI), { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    return reply.ok ? (await reply.json()).means : {};
  } catch {
    return {};
  }
}
