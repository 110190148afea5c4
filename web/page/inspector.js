/**
 * The inspector, which shows the runs of all tabs.
 */

/** @import { RunDocument } from '../../decoding/run/run_document' */
/** @import { InspectorValue } from '../../ui/inspector/inspector_contract' */
/** @typedef {ReturnType<typeof mountInspector>} Inspector */

import { inspectorValue } from '../../ui/inspector/document_value.js';
import { start } from '../../ui/inspector/inspector.js';
import { currentClass } from '../../ui/kit/address/class_part.js';
import { shownTab } from '../../ui/kit/js/signals.js';
import { mount } from './component.js';

/** @type {InspectorValue} without a run */
const EMPTY = {
  run: null, mode: 'chat', ids: [], kinds: [], probabilities: [], labels: {}, source: 0, first: 0, steps: [], layers: 0, heads: 0,
  rows: [], rows_from: 0, search: null, selected: null, busy: false,
};
let count = 0;

/** A name for a new run. */
export const nameRun = () => `run-${count += 1}`;

const tabMode = () => /** @type {InspectorValue['mode']} */ (shownTab.latest.toLowerCase());

/**
 * @param {Element} parent
 * @param {(branch: import('../service.js').Branch) => void} onTake another token is to be used in the run that is shown
 */
export function mountInspector(parent, onTake) {
  const component = mount(parent, start, 'attend-inspector', { beginning: { alone: true, recorded: true }, value: null }, { branch: take, take });
  let first = 0; // the number of its first explained token
  /** @type {RunDocument | null} the run in it */
  let inspected = null;
  /** @param {{index: number, token: number}} exchange */
  function take({ index, token }) {
    onTake({ run: inspected, place: index - first, token });
  }

  return {
    get run() { return inspected; },
    /** @param {string} name @param {RunDocument} run @param {number | null} [index] of the generated token to select */
    show(name, run, index = null) {
      const value = inspectorValue(run, name);
      [inspected, first] = [run, value.first];
      component.show({ ...value, mode: tabMode(), selected: index === null ? null : value.first + index });
    },
    /** A class that guesses waits for a run that is being written, until it is shown or has failed. @param {string} name @param {boolean} [busy] */
    await(name, busy = true) {
      if (currentClass()?.words.includes('guess')) component.show({ ...EMPTY, run: name, mode: tabMode(), busy });
    },
    /** Show the run of a file, until that is closed. @param {string} name @param {RunDocument} run @param {string} file its name */
    open(name, run, file) {
      component.show({ run: name, document: run, file });
      inspected = run;
    },
    /** A tab without a run of its own shows its example. @param {'chat' | 'write' | 'translate' | 'compare'} mode */
    showExample(mode) {
      component.show({ ...EMPTY, mode });
    },
  };
}
