/**
 * The actions on the run in the inspector: save or share it, open another from a file, or ask "What if?".
 *
 * A signal tells it which run that is. Every question to the server has a number, which the reply repeats, so that outdated
 * replies are dropped. Events: 'save', 'change_settings', 'open_file'. Without a server (`beginning.alone`), there is no What if.
 */

/** @import { RecordReply } from './toolbar_contract' */

import { isExample } from '../../examples/example.js';
import { find, make, makeButton } from '../../kit/js/dom.js';
import { Questions } from '../../kit/js/questions.js';
import { answeredWhy, inspectedToken, openedAttention, openedComparison, selectToken, showTab } from '../../kit/js/signals.js';
import { downloadReply } from '../../kit/js/transfer.js';
import { followValue, unpacked } from '../../kit/js/values.js';
import { makeWhatIf } from './counterfactual.js';
import { MAX_SENT, contentOf, sendable, shareRun } from './shared_file.js';

const DEBOUNCE_MS = 180; // for which a slider must not move before the server is asked
const MAX_FILE = 20_000_000; // bytes of a file that is read at all
export const FROM_FILE = 'replay-'; // and a number: the name of a run from a file, see ui/inspector/toolbar/replay.py

/** @param {import('../../kit/js/gradio').Component} component */
export function start(component) {
  const { element, props, trigger } = component;
  const root = find(element, '.attend-record');
  const run = { name: /** @type {string | null} */ (null), busy: false };
  const isAlone = Boolean(props.beginning && unpacked(props.beginning).alone);
  const questions = new Questions((event, data) => trigger(event, { run: run.name, ...data }));
  let saving = 0; // the number of the newest question to save: older ones are dropped
  let sharing = 0; // and of that to share
  let changes = 0; // how often the settings of What if? have changed
  let answered = Promise.resolve(); // resolves with the reply to the last question of What if?
  let timer = 0;
  let opened = 0; // how many runs from files were asked for: each is named by its number, whenever it comes
  /** @type {{run: string, index: number | null, without: string}} the last one, its token to select, and the part that was left out */
  let last = { run: '', index: null, without: '' };
  let missingPart = ''; // the part that was left out of the run in the inspector

  const save = makeButton('Save run', () => {
    questions.drop(saving);
    saving = questions.ask('save', {}, ({ file }) => downloadReply(file, 'json'));
  }, { title: 'Save a file with every step, its candidates and their probabilities' });
  const share = makeButton('Share run', () => {
    questions.drop(sharing);
    const { run: explained, answers } = answeredWhy.latest ?? { run: null, answers: [] };
    const why = explained === run.name ? answers : [];
    sharing = questions.ask('save', {}, ({ file }) => file && shareRun(share, file, why));
  }, { title: 'Save a page that shows this run in any browser, without a server; it is made here and sent nowhere' });
  const chooser = make('input', { type: 'file', accept: '.json,.html,application/json,text/html', hidden: true }); // the button opens it
  const open = makeButton('Open run', () => chooser.click(), { title: 'Open a file saved or shared here, or one of generate.py --json' });
  const whereabouts = make('p', { class: 'at-sm at-quiet', text: isAlone ? 'Your text stays in this browser; a shared file is made here and sent nowhere.'
    : 'The server of this page reads your text, and forgets it within an hour after you close the page; a shared file is made in your browser and sent nowhere.' });
  const note = make('span', { class: 'at-row at-wrap at-gap-sm at-quiet', role: 'status' });
  const whatIf = makeWhatIf(isAlone ? { settings: [], quick: [] } : unpacked(props.form), (settings) => {
    whatIf.wait();
    clearTimeout(timer);
    changes += 1; // an answer that comes now would move the slider under the hand
    timer = setTimeout(() => askWhatIf(settings), DEBOUNCE_MS);
  });

  root.replaceChildren(make('div', { class: 'at-row at-wrap at-md at-record-bar' }, save, share, open, chooser, note), whereabouts, whatIf.node);
  refresh();
  chooser.addEventListener('change', readFile);
  whatIf.node.addEventListener('toggle', begin);
  inspectedToken.subscribe(root, ({ run: name, busy, index }) => {
    if (name !== run.name || busy !== run.busy) {
      const isNew = name !== run.name, isLast = name === last.run;
      if (isNew) missingPart = isLast ? last.without : '';
      Object.assign(run, { name, busy });
      refresh();
      begin();
      if (isNew && isLast && last.index !== null) selectToken(name, last.index);
    }
    whatIf.mark(name, index);
  });
  followValue(component, (/** @type {RecordReply} */ reply) => questions.settle(reply));

  /**
   * One question at a time, since each costs the model a pass: of those that come meanwhile, the newest is sent.
   * @param {Record<string, number>} settings that differ from the run's
   */
  function askWhatIf(settings) {
    const change = changes;
    answered = answered.then(() => change === changes && new Promise((done) => {
      questions.ask('change_settings', { changes: settings }, ({ whatif }) => {
        done();
        if (change !== changes) return;
        if (whatif) whatIf.show(whatif);
        else whatIf.refuse();
      }, {}); // a reply may be lost among many
    }));
  }

  function refresh() {
    const isFile = isFromFile(run.name);
    share.disabled = save.disabled = run.name === null || run.busy || isExample(run.name) || isFile;
    open.disabled = run.busy;
    note.textContent = !isFile ? '' : missingPart ? `Opened from a file whose ${missingPart} took too much room to be shown.` : 'Opened from a file.';
    whereabouts.hidden = share.disabled;
    whatIf.node.hidden = isAlone || run.name === null || isExample(run.name); // the server knows no such run
    whatIf.node.classList.toggle('at-resting', run.busy);
  }

  /** Ask about the run in the inspector, with its own settings. */
  function begin() {
    clearTimeout(timer);
    changes += 1;
    whatIf.rest();
    whatIf.clear();
    if (!whatIf.node.open || whatIf.node.hidden || run.busy) return;
    whatIf.wait();
    askWhatIf({});
  }

  async function readFile() {
    const file = chooser.files[0];
    chooser.value = '';
    if (!file) return;
    refresh(); // removes a note about another file
    const { runs, comparison } = contentOf(file.size <= MAX_FILE ? await file.text() : '');
    if (comparison && showTab('Compare')) {
      openedComparison.publish({ name: file.name, comparison, open: (card, index) => openRun(runs[card], { name: '', size: file.size }, index) });
    } else if (runs.length > 1) {
      note.replaceChildren(`Open which card of ${file.name}?`, ...runs.map((text, index) =>
        makeButton(`${index + 1}`, () => openRun(text, { name: `${file.name}, card ${index + 1}`, size: file.size }), { 'aria-label': `Card ${index + 1}` })));
    } else openRun(runs[0], file);
  }

  /**
   * @param {string} json
   * @param {{name: string, size: number}} file that it is from; its name is "" for a card of an opened comparison, which itself says so
   * @param {number | null} [index] of the token to select
   * @returns {string | null} the name that the run will have in the inspector; null if it is too large to be opened
   */
  function openRun(json, file, index = null) {
    const { text, without, attention } = sendable(json);
    if (text) {
      opened += 1;
      last = { run: `${FROM_FILE}${opened}`, index, without };
      openedAttention.publish({ run: last.run, attention });
      trigger('open_file', { number: opened, text, file: file.name });
      return last.run;
    }
    const called = file.name || 'This card';
    note.textContent = !file.size ? `${called} is empty: choose another file.`
      : `${called} is too large: choose a file of up to ${megabytes(MAX_FILE)}, with at most ${megabytes(MAX_SENT)} besides its attention and beams.`;
    return null;
  }
}

/** @param {string | null} run */
const isFromFile = (run) => Boolean(run?.startsWith(FROM_FILE));

/** @param {number} bytes */
const megabytes = (bytes) => `${bytes / 1e6} MB`;
