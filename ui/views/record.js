/**
 * What can be done with the run that the inspector shows: save it, open another from a file, ask what would have
 * changed it.
 *
 * It learns from the inspector's signals which run that is. Every question to the server carries a number and the reply
 * repeats it, so that what has been overtaken is dropped. Events: 'save', 'change_settings', 'open_file'.
 *
 * @typedef {{number: number, file?: [string, string], whatif?: WhatIf}} Reply
 */

const PAUSE = 180; // milliseconds that a slider rests before the server is asked
const MOST_FILE = 20_000_000; // bytes of a file that is read at all
const MOST_SENT = 900_000; // bytes of a request; the server takes 1,000,000

const root = element.querySelector('.attend-record');
const run = { name: /** @type {string | null} */ (null), busy: false };
const questions = { last: 0, saving: 0, changing: 0 };
let pause = 0;
let left = false; // whether beams were left out of the file that was sent last
let withoutBeams = false; // the same of the run that is shown

const save = makeQuick('Save this run', 'As a file with every step, its candidates and their probabilities', () => {
  questions.saving = ask('save', {});
});
const chooser = make('input', { type: 'file', accept: '.json,application/json', hidden: true }); // the button opens it
const open = makeQuick('Open a run', 'From a file that was saved here or by generate.py --json', () => chooser.click());
const note = make('span', { class: 'at-quiet', role: 'status' });
const whatIf = makeWhatIf(unpacked(props.form), (settings) => {
  whatIf.wait();
  clearTimeout(pause);
  questions.changing = 0; // an answer that comes now would move the slider under the hand
  pause = setTimeout(() => {
    questions.changing = ask('change_settings', { settings });
  }, PAUSE);
});

root.replaceChildren(make('div', { class: 'at-record-bar' }, save, open, chooser, note), whatIf.node);
refresh();
chooser.addEventListener('change', readFile);
whatIf.node.addEventListener('toggle', start);
listen(SIGNAL.selected, (event) => {
  const { run: name, busy, index } = event.detail;
  if (name !== run.name || busy !== run.busy) {
    if (name !== run.name) withoutBeams = left; // of a replay; a run of the page's own has no such note
    Object.assign(run, { name, busy });
    refresh();
    start();
  }
  whatIf.mark(name, index);
});
watch('value', receive);

/** @param {string} event @param {object} detail @returns {number} of the question */
function ask(event, detail) {
  questions.last += 1;
  trigger(event, { number: questions.last, run: run.name, ...detail });
  return questions.last;
}

function refresh() {
  save.disabled = run.name === null || run.busy || run.name.startsWith('replay-');
  open.disabled = run.busy;
  const missing = withoutBeams ? ', and its beams are too many to be shown' : '';
  note.textContent = run.name?.startsWith('replay-') ? `A replay: no attention is stored in a file${missing}.` : '';
  whatIf.node.hidden = run.name === null;
  whatIf.node.classList.toggle('at-resting', run.busy);
}

/** Ask about the run that is shown now, with its own settings. */
function start() {
  clearTimeout(pause);
  questions.changing = 0;
  whatIf.rest();
  whatIf.clear();
  if (!whatIf.node.open || run.name === null || run.busy) return;
  whatIf.wait();
  questions.changing = ask('change_settings', { settings: {} });
}

function receive() {
  if (!props.value) return;
  const reply = /** @type {Reply} */ (unpacked(props.value));
  if (reply.file && reply.number === questions.saving) download(...reply.file);
  if (reply.number !== questions.changing) return;
  if (reply.whatif) whatIf.show(reply.whatif);
  else whatIf.rest();
}

/** What of a beam is shown; its ids alone would be most of the file. */
const slim = ({ text, score, step_score, final_score, log_probability, parent, finished, leads, returned, dropped }) =>
  ({ text, score, step_score, final_score, log_probability, parent, finished, leads, returned, dropped });

async function readFile() {
  const file = chooser.files[0];
  chooser.value = '';
  if (!file) return;
  refresh(); // whatever was said of another file
  const text = file.size <= MOST_FILE ? fitted(await file.text()) : '';
  if (text) trigger('open_file', { text });
  else if (!file.size) note.textContent = `${file.name} is empty: choose another file.`;
  else {
    note.textContent = `${file.name} is too large: a file may have ${megabytes(MOST_FILE)} and, without its beams, `
      + `${megabytes(MOST_SENT)}.`;
  }
}

/** @param {number} bytes */
const megabytes = (bytes) => `${bytes / 1e6} MB`;

/** A file's text as it can be sent: beams that are too many are left out. @param {string} text @returns "" if it cannot */
function fitted(text) {
  left = false;
  try {
    const { beams, ...rest } = JSON.parse(text);
    const whole = JSON.stringify({ ...rest, beams: beams?.map((step) => step.map(slim)) });
    left = whole.length > MOST_SENT && Boolean(beams);
    text = left ? JSON.stringify(rest) : whole;
  } catch {
    // no JSON: the server says so in its own words
  }
  return text.length > MOST_SENT ? '' : text;
}
