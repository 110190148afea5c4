/**
 * Write's box keeps its newest text in view while the model writes in it, unless the reader has scrolled up.
 */

import { around } from '../kit/js/dom.js';
import { writtenText } from '../kit/js/signals.js';
import { followEnd } from '../kit/parts/follow_end.js';

const STARTS = '#attend-continue, #attend-next';
const NEAR = 48; // px from the end that still count as being there

/** @param {HTMLTextAreaElement} box disabled while the model writes; what is typed, the browser itself keeps in view */
export function followWriting(box) {
  const end = followEnd(box, NEAR);
  let isWriting = false;

  document.addEventListener('click', (event) => {
    if (!around(event, STARTS)) return;
    isWriting = true;
    end.follow(true);
  });
  writtenText.subscribe(box, () => {
    if (!isWriting) return;
    end.follow(false);
    isWriting = box.disabled; // with the last words it is enabled again
  });
}
