/**
 * Tells the history about the text of Write, whose box has no script: its run says whether the text grows or has come to rest.
 */

/** @import { Run } from './run.js' */

import { isExample } from '../examples/example.js';
import { interruptedText, settledText } from '../kit/js/signals.js';

/** @param {Run} run in the inspector */
export function followWriteText(run) {
  let lastKey = '';

  /** The run has changed. */
  function report() {
    const key = run.isBusy ? run.name : run.tokens.length ? `${run.name} ${run.tokens.length}` : '';
    if (run.mode !== 'write' || isExample(run.name) || key === lastKey) return;
    lastKey = key;
    settledText.publish({ kind: 'write', isEmpty: !key, isGrowing: run.isBusy });
  }

  /** The server is lost while the text grows. @param {(saved: Promise<unknown>) => void} until */
  function rescue(until) {
    const box = /** @type {HTMLTextAreaElement | null} */ (document.querySelector('#attend-text textarea'));
    if (run.mode === 'write' && box?.value) interruptedText.publish({ kind: 'write', text: box.value, until });
  }

  return { report, rescue };
}
