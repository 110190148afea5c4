/**
 * The actions on the run in the inspector: save it, open another from a file, or ask "What if?".
 *
 * It learns from the inspector's signals which run that is. Every question to the server carries a number and the reply
 * repeats it, so that outdated replies are dropped. Events: 'save', 'change_settings', 'open_file'.
 */

/** @import { RecordReply } from './toolbar_contract' */

import { isExample } from '../../examples/example.js';
import { find, make } from '../../kit/js/dom.js';
import { Questions } from '../../kit/js/questions.js';
import { shownToken } from '../../kit/js/signals.js';
import { download } from '../../kit/js/transfer.js';
import { unpacked } from '../../kit/js/values.js';
import { quickButton, makeWhatIf } from './counterfactual.js';

const DEBOUNCE_MS = 180; // for which a slider must not move before the server is asked
const MAX_FILE = 20_000_000; // bytes of a file that is read at all
const MAX_SENT = 900_000; // bytes of a request; the server takes 1,000,000

/** @param {import('../../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-record');
  const run = { name: /** @type {string | null} */ (null), busy: false };
  const questions = new Questions((event, data) => trigger(event, { run: run.name, ...data }));
  let saving = 0; // the newest question: one that was overtaken is dropped
  let changes = 0; // of What if's settings, so far
  let answered = Promise.resolve(); // once there is a reply to What if's last question
  let timer = 0;
  let left = ''; // what was left out of the file that was sent last
  let missing = ''; // the same of the run that is shown

  const save = quickButton('Save run', 'Save a file with every step, its candidates and their probabilities', () => {
    questions.drop(saving);
    saving = questions.ask('save', {}, ({ file }) => {
      if (file) download(file[0], 'json', file[1]);
    });
  });
  const chooser = make('input', { type: 'file', accept: '.json,application/json', hidden: true }); // the button opens it
  const open = quickButton('Open run', 'Open a file saved here or by generate.py --json', () => chooser.click());
  const note = make('span', { class: 'at-quiet', role: 'status' });
  const whatIf = makeWhatIf(unpacked(props.form), (settings) => {
    whatIf.wait();
    clearTimeout(timer);
    changes += 1; // an answer that comes now would move the slider under the hand
    timer = setTimeout(() => askWhatIf(settings), DEBOUNCE_MS);
  });

  root.replaceChildren(make('div', { class: 'at-row at-wrap at-md at-record-bar' }, save, open, chooser, note), whatIf.node);
  refresh();
  chooser.addEventListener('change', readFile);
  whatIf.node.addEventListener('toggle', begin);
  shownToken.subscribe(root, ({ run: name, busy, index }) => {
    if (name !== run.name || busy !== run.busy) {
      if (name !== run.name) missing = left; // a replay has a note; a run made on this page has none
      Object.assign(run, { name, busy });
      refresh();
      begin();
    }
    whatIf.mark(name, index);
  });
  watch('value', receive);

  /**
   * One question at a time, since each costs the model a pass: of those that come meanwhile, the newest is sent.
   * @param {Record<string, number>} settings that differ from the run's
   */
  function askWhatIf(settings) {
    const change = changes;
    answered = answered.then(() => change === changes && new Promise((done) => {
      questions.ask('change_settings', { settings }, ({ whatif }) => {
        done();
        if (change !== changes) return;
        if (whatif) whatIf.show(whatif);
        else whatIf.rest();
      }, {}); // asked again, should it be refused: it is one of many
    }));
  }

  function refresh() {
    save.disabled = run.name === null || run.busy || isExample(run.name) || run.name.startsWith('replay-');
    open.disabled = run.busy;
    const isFile = run.name?.startsWith('replay-');
    note.textContent = !isFile ? '' : missing ? `Opened from a file whose ${missing} took too much room to be shown.` : 'Opened from a file.';
    whatIf.node.hidden = run.name === null || isExample(run.name); // the server knows no such run
    whatIf.node.classList.toggle('at-resting', run.busy);
  }

  /** Ask about the run that is shown now, with its own settings. */
  function begin() {
    clearTimeout(timer);
    changes += 1;
    whatIf.rest();
    whatIf.clear();
    if (!whatIf.node.open || run.name === null || run.busy) return;
    whatIf.wait();
    askWhatIf({});
  }

  function receive() {
    if (props.value) questions.settle(/** @type {RecordReply} */ (unpacked(props.value)));
  }

  async function readFile() {
    const file = chooser.files[0];
    chooser.value = '';
    if (!file) return;
    refresh(); // drop the note about another file
    const text = file.size <= MAX_FILE ? withinLimit(await file.text()) : '';
    if (text) trigger('open_file', { text, name: file.name });
    else if (!file.size) note.textContent = `${file.name} is empty: choose another file.`;
    else {
      note.textContent = `${file.name} is too large: choose a file of up to ${megabytes(MAX_FILE)}, or `
        + `${megabytes(MAX_SENT)} without its beams.`;
    }
  }

  /** A file's text as it can be sent: of a large one without its attention or beams. @param {string} text @returns "" if it cannot */
  function withinLimit(text) {
    left = '';
    try {
      const content = JSON.parse(text);
      // In the first form of the document each beam had all of its tokens; its parents have those before its own.
      content.beams = content.beams?.map((step) => step.map((beam) => ({ ...beam, ids: beam.ids?.slice(-1) })));
      text = JSON.stringify(content);
      for (const part of ['attention', 'search', 'beams']) {
        if (text.length <= MAX_SENT || !content[part]) continue;
        left = part === 'attention' ? part : 'beams';
        delete content[part];
        text = JSON.stringify(content);
      }
    } catch {
      // no JSON: the server says so in its own words
    }
    return text.length > MAX_SENT ? '' : text;
  }
}

/** @param {number} bytes */
const megabytes = (bytes) => `${bytes / 1e6} MB`;
