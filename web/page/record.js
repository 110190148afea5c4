/**
 * Under the inspector: the run in it is saved or shared as a file, and a file is opened, here in the browser.
 */

/** @import { RunDocument } from '../../decoding/run/run_document' */
/** @import { Inspector } from './inspector.js' */

import { FROM_FILE, start } from '../../ui/inspector/toolbar/toolbar.js';
import { make } from '../../ui/kit/js/dom.js';
import { mount } from './component.js';

const SCHEMA = 'attend.trace/2';

/** @param {Element} parent @param {Inspector} inspector */
export function mountRecord(parent, inspector) {
  const problem = make('p', { class: 'at-sm at-quiet', role: 'status' });
  const record = mount(parent, start, 'attend-record', { beginning: { alone: true }, value: null }, {
    save: ({ number }) => record.show({ number, file: [nameOf(inspector.run), `${JSON.stringify(inspector.run)}\n`] }),
    open_file({ number, text, file: name }) {
      problem.textContent = '';
      try {
        const run = JSON.parse(text);
        if (run?.schema !== SCHEMA) throw new Error(`its schema is ${run?.schema}, not ${SCHEMA}`);
        inspector.open(`${FROM_FILE}${number}`, run, name);
      } catch (error) {
        problem.textContent = `${name || 'This card'} can’t be opened: ${/** @type {Error} */ (error).message}. Choose a run that was saved or shared.`;
      }
    },
  });
  parent.append(problem);
}

/** What names a file of a run. @param {RunDocument} run */
export const nameOf = ({ model, prompt, settings, seed }) => [model, prompt.text, String(settings?.strategy ?? ''), ...(seed === null ? [] : [String(seed)])];
