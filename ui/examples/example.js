/**
 * The recorded examples that a tab shows until the visitor has something of their own: shown without the server, and
 * fetched when the tab is opened. The names of their runs begin with `example-` and the tab's mode. Each is also a
 * document as the history keeps them, which a visitor can take over.
 */

/** @import { RecordedRuns } from './examples_contract' */

import { currentClass } from '../kit/address/class_part.js';
import { make, makeButton } from '../kit/js/dom.js';
import { documentToOpen } from '../kit/js/signals.js';

/** The runs that the inspector shows of them, by its mode. @type {Record<string, () => Promise<{recorded: RecordedRuns}>>} */
const MODULES = {
  chat: () => import('./chat.js'),
  write: () => import('./write.js'),
  compare: () => import('./compare.js'),
  translate: () => import('./translate.js'),
};

/** The examples as documents, by mode. A comparison is run again instead, with the visitor's own lengths and seed. */
const DOCUMENTS = {
  chat: () => import('./chat_document.js'),
  write: () => import('./write_document.js'),
  translate: () => import('./translate_document.js'),
};

/** The modes that have an example. */
export const MODES = Object.keys(MODULES);

/** Whether the page shows examples: a class shows none. @param {{recorded: boolean}} beginning */
export const offersExamples = ({ recorded }) => recorded && currentClass() === null;

/** @param {string} mode one of those */
export const recordedRuns = async (mode) => (await MODULES[mode]()).recorded;

/** @param {string | null} run */
export const isExample = (run) => run !== null && run.startsWith('example-');

/** The mode whose example a run belongs to. @param {string} run */
export const modeOf = (run) => run.split('-')[1];

/** Put an example in its tab as the visitor's own, with all that explains its tokens. @param {keyof typeof DOCUMENTS} mode */
export const takeOver = async (mode) => documentToOpen.publish({ document: (await DOCUMENTS[mode]()).document });

/**
 * The note that something is an example, with a button that takes it over.
 * @param {{model: string, length?: number, take?: string, disabled?: boolean, onTake?: () => void}} about `model` wrote it;
 *   `length`: the maximum length, if it is worth saying; `take`: the words of the button
 */
export function makeExampleNote({ model, length, take = '', disabled = false, onTake }) {
  const words = `Example, recorded with ${model}${length === undefined ? '' : ` and a maximum length of ${length}`}`;
  return make('p', { class: 'at-row at-wrap at-between at-gap-xs at-sm at-quiet at-example-note' }, make('span', { text: words }),
    ...(take ? [makeButton(take, onTake, { disabled })] : []));
}
