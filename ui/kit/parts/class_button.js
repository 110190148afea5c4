/**
 * The button beside a link that makes it one for a class (ui/classroom/class_links.js). A class itself has none.
 */

import { makeButton } from '../js/dom.js';

/** @param {(button: HTMLElement) => void} onclick which publishes the link as `classLinkWanted` */
export function makeClassButton(onclick) {
  const button = makeButton('For a class …', () => onclick(button), { class: 'at-plain at-class-button', title: 'A link that shows students this and nothing else' });
  return button;
}
