/**
 * A shared run: what was asked, what the model wrote, and the inspector with all that explains it.
 */

/** @import { RunDocument } from '../../decoding/run/document' */

import { inspectorValue } from './inspector_value.js';
import { askedIn, makeFooter, makeHeader, makeInspector, showShared } from './page.js';
import { makeSettings } from './settings.js';

export const NAME = 'shared'; // of the run, in the inspector

/** @param {string} json see `showShared` */
export const show = (json) => showShared(json, (root, run) =>
  drawRun(root, run, [...askedIn(run), [run.prompt.messages ? 'assistant' : run.model, run.text]]));

/** @param {Element} root @param {RunDocument} run @param {string[][]} said see `makeHeader` @param {...Node} views of its text, before the inspector */
export function drawRun(root, run, said, ...views) {
  const inspector = makeInspector();
  root.replaceChildren(makeHeader('A run of a language model, token by token', run, said, makeSettings(run)),
    ...views, inspector.node, makeFooter());
  inspector.show(inspectorValue(run, NAME));
}
