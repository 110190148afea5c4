/**
 * Write: a text that the model continues in its box.
 */

/** @import { Tab } from './page.js' */

import { mayChangeText } from '../../ui/kit/address/class_part.js';
import { makeButton } from '../../ui/kit/js/dom.js';
import { documentToOpen } from '../../ui/kit/js/signals.js';
import { followEnd } from '../../ui/kit/parts/follow_end.js';
import { REASON } from '../../ui/write/ended.js';
import { makeAsk } from './ask.js';
import { nameRun } from './inspector.js';
import { settingsOf } from './settings_panel.js';
import { textOf } from './turns.js';

const MAX_UNDO = 50; // as on the page with a server: every version keeps a run

/**
 * A text, the last run so far with its name, and the text that the model has ended; "" for none.
 * @typedef {{text: string, name: string, run: import('../service.js').Result['document'] | null, ended: string}} Version
 */

/** @param {Tab} tab */
export function startTab({ panel, model, settings, inspector, prompt }) {
  /** @type {Version} without what was typed since the last run */
  let version = { text: prompt, name: '', run: null, ended: '' };
  /** @type {Version[]} for Undo */
  const earlier = [];
  const undo = makeButton('Undo', () => {
    if (ask.box.value === version.text) version = earlier.pop(); // nothing was typed
    ask.box.value = version.text;
    undo.disabled = !earlier.length;
    ask.status.textContent = '';
    enter();
  }, { disabled: true });
  const clear = makeButton('Clear', () => {
    if (!ask.box.value) return;
    remember();
    version = { text: '', name: '', run: null, ended: '' };
    ask.box.value = ask.status.textContent = '';
    undo.disabled = false;
    ask.box.focus();
    enter();
  });
  const ask = makeAsk(model, {
    label: 'Text', placeholder: 'Type the beginning of a text and let the model continue it.', verb: 'Continue', rows: 12,
    tools: [makeButton('Next token', () => ask.submit(undefined, { single: true })), undo, clear],
  }, proceed);
  const end = followEnd(ask.box);
  panel.append(ask.node);
  ask.box.value = prompt;
  documentToOpen.subscribe(null, ({ document }) => { if (document.kind === 'write') ask.box.value = document.content.text; });

  /** @param {string} text @param {{branch?: import('../service.js').Branch, single?: boolean}} how `single`: by one token */
  async function proceed(text, { branch, single = false }) {
    if (!branch && text === version.ended) throw new Error(REASON);
    const before = ask.box.value;
    ask.box.readOnly = undo.disabled = clear.disabled = true;
    const growing = nameRun();
    inspector.await(growing);
    end.follow(true);
    try {
      const changes = single ? { max_new_tokens: 1, min_new_tokens: 0 } : {};
      const result = await model.run(branch ?? text, settingsOf(branch, { ...settings.read(), ...changes }), (tokens) => {
        ask.box.value = text + textOf(tokens);
        end.follow(false);
      });
      const name = growing, run = result.document, written = text + textOf(result.tokens);
      remember(before);
      version = { text: written, name, run, ended: run.finish_reason === 'stop' ? written : '' };
      ask.box.value = written;
      end.follow(false);
      if (!panel.hidden) inspector.show(name, run, branch?.place ?? (single ? 0 : undefined));
      return run;
    } catch (error) {
      inspector.await(growing, false);
      throw error;
    } finally {
      ask.box.readOnly = !mayChangeText();
      clear.disabled = false;
      undo.disabled = !earlier.length;
    }
  }

  /** For Undo, which takes back the last run or Clear, and then what was typed before it. @param {string} text in the box */
  function remember(text = ask.box.value) {
    if (text !== version.text) earlier.push(version);
    earlier.push({ ...version, text });
    earlier.splice(0, earlier.length - MAX_UNDO);
  }

  /** Continue the text after another token; what followed is dropped. @param {import('../service.js').Branch} branch */
  function take(branch) {
    if (branch.run === version.run) ask.submit(branch.run.prompt.text, { branch });
  }

  function enter() {
    const { name, run } = version;
    if (run) inspector.show(name, run);
    else inspector.showExample('write');
  }

  return { take, enter };
}
