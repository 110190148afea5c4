/**
 * An unsent message survives a reload, a restart of the server and signing in again: the browser's tab keeps it, unless the
 * visitor has turned saving off.
 */

import { typeInto } from '../kit/js/dom.js';
import { connected } from '../kit/js/signals.js';
import { isReturn, isSaving, keepOverReload, keptOverReload } from '../kit/js/storage.js';

/** @param {() => HTMLTextAreaElement | null} findBox */
export function keepUnsent(findBox) {
  let waiting = isReturn() ? keptOverReload('unsent') : ''; // until it is in the box, since the page may be left before
  keepOverReload('unsent', waiting);
  connected.subscribe(null, () => {
    const box = findBox();
    if (waiting && box && !box.value) typeInto(box, waiting);
    waiting = '';
  });
  addEventListener('pagehide', () => keepOverReload('unsent', isSaving() ? waiting || (findBox()?.value ?? '') : ''));
}
