/**
 * The page in a class: what a teacher's link hides and fixes, guessing, and the presentation. `data-class` of the body says for
 * the styles what its students see.
 */

/** @import { Classroom } from '../kit/address/class_part.js' */
/** @import { Gathering } from './guessing.js' */

import { takePart, withParts } from '../kit/address/address.js';
import { currentClass, hasOneText } from '../kit/address/class_part.js';
import { find, make } from '../kit/js/dom.js';
import { offerClassLinks } from './class_links.js';
import { gather } from './gathering.js';
import { offerGuessing } from './guessing.js';
import { present } from './presenter.js';

/**
 * @param {{hasServer: boolean, hasTexts?: boolean}} page `hasTexts`: whether it has runs whose tokens can be guessed
 * @returns {Classroom | null} the class whose link the page was opened with
 */
export function enterClass({ hasServer, hasTexts = true }) {
  takePart('class', () => true); // what is wrong with it is said here
  const classroom = currentClass();
  if (classroom === null) {
    offerClassLinks(hasServer);
    return null;
  }
  const { words, round, faults } = classroom;
  document.body.dataset.class = words.join(' ');
  if (hasTexts && words.includes('guess')) offerGuessing(round, gatheringOf(classroom, hasServer));
  if (words.includes('present')) present();
  if (faults.length) find(document.body, '.attend-header').after(damageNote(faults));
  return classroom;
}

/** @param {Classroom} classroom @param {boolean} hasServer @returns {Gathering} */
function gatheringOf({ name, words }, hasServer) {
  if (hasServer && name && hasOneText(words)) return { gather: (guess) => gather(name, guess), reason: '' };
  const cause = !hasServer ? 'This page has no server' : !name ? 'The link names no class' : 'Each of you may have a different text';
  return { gather: async () => ({}), reason: `${cause}, so there is no mean of the class: compare your bits with the model’s.` };
}

/** @param {string[]} faults */
function damageNote(faults) {
  const parts = faults.map((fault) => (fault ? `“${fault}”` : 'an empty part')).join(' and ');
  const wholePage = make('a', { href: withParts(location.href, { class: null }), text: 'open the whole page' });
  return make('p', { class: 'at-view at-damaged-link', role: 'alert' }, `This class link is damaged: the page can’t read ${parts} in it and follows the rest. `,
    'Copy the whole link again, or make a new one: ', wholePage, ' and press “For a class …”.');
}
