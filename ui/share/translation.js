/**
 * A shared translation: a run, and the lines and maps that say where the translator looked.
 */

/** @import { RunDocument } from '../../decoding/run/run_document' */

import { make } from '../kit/js/dom.js';
import { start } from '../translate/alignment.js';
import { alignmentValue } from './alignment_value.js';
import { drawRun, NAME } from './run.js';
import { showShared } from './shared_page.js';

/** @param {string} json see `showShared` */
export const show = (json) => showShared(json, (root, run) => drawTranslation(root, run));

/** @param {Element} root @param {RunDocument} run @param {...Node} after views after the inspector */
export function drawTranslation(root, run, ...after) {
  const alignment = make('section', { 'aria-label': 'Alignment', class: 'at-shared-head' }, make('div', { class: 'attend-alignment at-view' }));
  drawRun(root, run, { said: [['text', run.prompt.text], ['translation', run.text]], before: [alignment], after });
  start({ element: alignment, props: { value: alignmentValue(run, NAME) }, trigger: () => {}, watch: () => {} });
}
