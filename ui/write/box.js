/**
 * Write's box keeps its newest text in view while the model writes in it, unless the reader has scrolled up.
 */

import { around } from '../kit/js/dom.js';
import { writtenText } from '../kit/js/signals.js';
import { followEnd } from '../kit/parts/follow_end.js';

const STARTS = '#attend-continue, #attend-next';

/** @param {HTMLTextAreaElement} box disabled while the model writes; the browser itself keeps typed text in view */
export function followWriting(box) {
  const end = followEnd(box);
  let isWriting = false; // from the click on
  let hasBegun = false; // the server has disabled the box; a last key may be heard of between the click and that

  document.addEventListener('click', (event) => {
    if (!around(event, STARTS)) return;
    isWriting = true;
    hasBegun = false;
    end.follow(true);
  });
  box.addEventListener('input', stop); // the visitor types: the click was refused
  writtenText.subscribe(box, () => {
    if (!isWriting) return;
    end.follow(false);
    if (box.disabled) hasBegun = true;
    else if (hasBegun) stop(); // with the last words it is enabled again
  });

  function stop() {
    isWriting = false;
    hasBegun = false;
  }
}
