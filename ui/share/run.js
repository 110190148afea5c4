/**
 * A shared run: what was asked, what the model wrote, and the inspector with all that explains it.
 */

/** @import { RunDocument } from '../../decoding/run/run_document' */

import { inspectorValue } from '../inspector/document_value.js';
import { makeSettings } from './run_settings.js';
import { askedIn, makeFooter, makeHeader, makeInspector, showShared } from './shared_page.js';

export const NAME = 'shared'; // of the run, in the inspector

/** @param {string} json see `showShared` */
export const show = (json) => showShared(json, (root, run) => drawRun(root, run));

/**
 * @param {Element} root @param {RunDocument} run
 * @param {{said?: string[][], before?: Node[], after?: Node[]}} views `said`: see `makeHeader`; the others stand around the inspector
 */
export function drawRun(root, run, { said = saidIn(run), before = [], after = [] } = {}) {
  const inspector = makeInspector();
  root.replaceChildren(makeHeader('A run of a language model, token by token', run, said, makeSettings(run)),
    ...before, inspector.node, ...after, makeFooter());
  inspector.show(inspectorValue(run, NAME));
}

/** @param {RunDocument} run */
const saidIn = (run) => [...askedIn(run), [run.prompt.messages ? 'assistant' : run.model, run.text]];
