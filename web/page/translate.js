/**
 * Translate: a text, its translation, and where the translator looked.
 */

/** @import { AlignmentValue } from '../../ui/translate/translate_contract' */
/** @import { TurnValue } from '../../ui/runs/runs_contract' */
/** @import { Tab } from './page.js' */

import { documentToOpen } from '../../ui/kit/js/signals.js';
import { alignmentValue } from '../../ui/share/alignment_value.js';
import { start as startAlignment } from '../../ui/translate/alignment.js';
import { start as startTranslation } from '../../ui/translate/translation.js';
import { makeAsk } from './ask.js';
import { mount } from './component.js';
import { nameRun } from './inspector.js';
import { finishedTurn, growingTurn } from './turns.js';

const recorded = () => import('../../ui/examples/translation.js');

/** @param {Tab} tab */
export function startTab({ panel, model, context, settings, inspector, examples, prompt }) {
  let name = '';
  /** @type {import('../service.js').Result['document'] | null} the last run */
  let run = null;
  let number = 0; // of the last drawing
  /** @type {[TurnValue[], AlignmentValue | null]} the last translation and its alignment */
  let finished = [[], null];
  const ask = makeAsk(model, { label: 'Text to translate', placeholder: 'Type a text to translate', verb: 'Translate', rows: 1 }, translate);
  panel.append(ask.node);
  ask.box.value = prompt;
  const answers = { token: ({ index }) => run && inspector.show(name, run, index) };
  const translation = mount(panel, startTranslation, 'attend-translation', { beginning: { recorded: true }, value: null }, {
    ...answers,
    example({ text }) {
      ask.box.value = text;
      ask.submit();
    },
  });
  const alignment = mount(panel, startAlignment, 'attend-alignment', { value: null }, answers);
  documentToOpen.subscribe(null, async ({ document }) => {
    if (document.kind !== 'translate') return;
    const { translation: { text, turn, alignment: value } } = await recorded();
    ask.box.value = text;
    finished = [[turn], value];
    draw(...finished);
  });
  draw(...finished);

  /** @param {TurnValue[]} turns @param {AlignmentValue | null} value @param {boolean} [busy] */
  function draw(turns, value, busy = false) {
    translation.show({ turns, examples, busy, number: number += 1 });
    alignment.show(value);
  }

  /** @param {string} text */
  async function translate(text) {
    const growing = nameRun();
    try {
      const result = await model.run(text, settings.read(), (tokens) => draw([growingTurn(model.name, growing, tokens)], null, true));
      [name, run] = [growing, result.document];
      finished = [[finishedTurn(name, result, context)], { ...alignmentValue(run, name), encoder: result.encoder }];
      draw(...finished);
      if (!panel.hidden) inspector.show(name, run);
      return run;
    } catch (error) {
      draw(...finished);
      throw error;
    }
  }

  return { enter: () => (run ? inspector.show(name, run) : inspector.showExample('translate')) };
}
