/**
 * The recorded example that the inspector shows until the visitor has a run of their own: fetched when it is wanted, and
 * shown without the server. The names of its runs begin with `example-`.
 */

/** @import { RecordedRuns } from '../examples/contract' */

import { make } from '../kit/js/dom.js';

const MODULES = {
  chat: () => import('../examples/chat.js'),
  write: () => import('../examples/write.js'),
};

/** The modes that have an example. */
export const MODES = Object.keys(MODULES);

/** @param {string} mode one of those @returns {Promise<RecordedRuns>} */
export const recordedRuns = async (mode) => (await MODULES[mode]()).recorded;

/** @param {string | null} run */
export const isExample = (run) => run !== null && run.startsWith('example-');

/** What says that it is one. @param {(text: string) => void} onUse its beginning is to be continued */
export function makeExampleNote(onUse) {
  let text = '';
  const words = make('span', {});
  const use = make('button', { type: 'button', class: 'at-plain', text: 'Continue this text yourself', onclick: () => onUse(text) });
  const node = make('p', { class: 'at-example-note', hidden: true }, words, use);

  /** @param {RecordedRuns} recorded */
  function show(recorded) {
    text = recorded.text;
    words.textContent = `Example, recorded with ${recorded.model}`;
    use.hidden = !text;
  }
  return { node, show };
}
