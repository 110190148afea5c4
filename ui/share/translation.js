/**
 * A shared translation: a run, and the lines and maps that say where the translator looked.
 */

import { make } from '../kit/js/dom.js';
import { start } from '../translate/alignment.js';
import { alignmentValue } from './alignment_value.js';
import { drawRun, NAME } from './run.js';
import { showShared } from './page.js';

/** @param {string} json see `showShared` */
export const show = (json) => showShared(json, (root, run) => {
  const alignment = make('section', { 'aria-label': 'Alignment', class: 'at-shared-head' }, make('div', { class: 'attend-alignment at-view' }));
  drawRun(root, run, [['text', run.prompt.text], ['translation', run.text]], alignment);
  start({ element: alignment, props: { value: alignmentValue(run, NAME) }, trigger: () => {}, watch: () => {} });
});
