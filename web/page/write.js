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
import { settingsOf } from './settings.js';
import { textOf } from './turns.js';

/** @param {Tab} tab */
export function startTab({ panel, model, settings, inspector, prompt }) {
  let name = '';
  /** @type {import('../service.js').Result['document'] | null} the last run */
  let run = null;
  let ended = ''; // the text that the model has ended; "" for none
  /** @type {string[]} what the text was before each run */
  const earlier = [];
  const undo = makeButton('Undo', () => {
    ask.box.value = earlier.pop();
    undo.disabled = !earlier.length;
    ended = ''; // the model may choose another token than the end
  }, { disabled: true });
  const ask = makeAsk(model, {
    label: 'Text', placeholder: 'Type the beginning of a text and let the model continue it.', verb: 'Continue', rows: 12,
    tools: [makeButton('Next token', () => ask.submit(undefined, { single: true })), undo],
  }, proceed);
  const end = followEnd(ask.box);
  panel.append(ask.node);
  ask.box.value = prompt;
  documentToOpen.subscribe(null, ({ document }) => { if (document.kind === 'write') ask.box.value = document.content.text; });

  /** @param {string} text @param {{branch?: import('../service.js').Branch, single?: boolean}} how `single`: by one token */
  async function proceed(text, { branch, single = false }) {
    if (!branch && text === ended) throw new Error(REASON);
    const before = ask.box.value;
    ask.box.readOnly = true;
    const growing = nameRun();
    inspector.await(growing);
    end.follow(true);
    try {
      const changes = single ? { max_new_tokens: 1, min_new_tokens: 0 } : {};
      const result = await model.run(branch ?? text, settingsOf(branch, { ...settings.read(), ...changes }), (tokens) => {
        ask.box.value = text + textOf(tokens);
        end.follow(false);
      });
      [name, run] = [growing, result.document];
      earlier.push(before);
      undo.disabled = false;
      ask.box.value = text + textOf(result.tokens);
      ended = run.finish_reason === 'stop' ? ask.box.value : '';
      end.follow(false);
      if (!panel.hidden) inspector.show(name, run, branch?.place ?? (single ? 0 : undefined));
      return run;
    } catch (error) {
      inspector.await(growing, false);
      throw error;
    } finally {
      ask.box.readOnly = !mayChangeText();
    }
  }

  /** Continue the text after another token; what followed is dropped. @param {import('../service.js').Branch} branch */
  function take(branch) {
    if (branch.run === run) ask.submit(run.prompt.text, { branch });
  }

  return { take, enter: () => (run ? inspector.show(name, run) : inspector.showExample('write')) };
}
