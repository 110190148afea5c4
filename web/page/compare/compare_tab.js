/**
 * Compare: one prompt under several settings, one card after the other.
 */

/** @import { CardValue, CompareRequest, CompareValue } from '../../../ui/compare/compare_contract' */
/** @import { Tab } from '../page.js' */

import { start } from '../../../ui/compare/compare.js';
import { make } from '../../../ui/kit/js/dom.js';
import { drawSeed, seedOf } from '../../decoding/settings.js';
import { comparisonFile, fileName } from './file.js';
import { mount } from '../component.js';
import { nameRun } from '../inspector.js';
import { firstDifference, metricsOf } from './metrics.js';
import { noteOf, withoutBlankEnd } from '../turns.js';
import { plain } from '../typed.js';

const MAX_CONTINUED = 200; // characters of a prompt, of which a card shows the last words

/**
 * A card that is run: its settings, its result as it is shown, its document and its numbers.
 * @typedef {import('./file.js').WrittenCard & {settings: Record<string, any>, value: CardValue}} Card
 */

/** @param {Tab} tab */
export function startTab({ panel, model, context, settings, inspector, form, prompt }) {
  /** @type {Card[]} */
  let cards = [];
  /** @type {Card[]} what Undo puts back */
  let removed = [];
  /** @type {CompareValue} */
  let value = { run: null, busy: false, chats: true, history: false, continued: '', seed: -1, cards: [] };
  let isStopped = false;
  let [text, isCommon] = ['', true]; // the prompt of the cards, and whether they share their random numbers
  const status = make('p', { class: 'at-sm at-quiet', role: 'status' });
  panel.append(status);
  model.follow((words) => { status.textContent = words; });
  const comparison = mount(panel, start, 'attend-compare', { form: { ...form, example: prompt || form.example }, beginning: { recorded: !prompt }, value }, {
    compare: (request) => compare(request).catch((error) => {
      status.textContent = error.message;
      publish({ busy: false });
    }),
    halt() {
      isStopped = true;
      model.stop();
    },
    token: ({ run: name, index }) => show(cards.find((card) => card.value.run === name), index),
    remove({ runs }) {
      removed = removed.concat(cards.filter((card) => runs.includes(card.value.run)));
      cards = cards.filter((card) => !runs.includes(card.value.run));
      publish({});
    },
    restore({ run: name, index }) {
      cards = cards.toSpliced(index, 0, ...removed.filter((card) => card.value.run === name));
      removed = removed.filter((card) => card.value.run !== name);
      publish({});
    },
    missing: () => publish({}),
    panel({ number }) {
      const typed = settings.readTyped(), changed = form.parameters.filter(({ name, panel: isShared, default: usual }) => !isShared && name in typed && typed[name] !== usual);
      comparison.show({ number, settings: Object.fromEntries(changed.map(({ name: each }) => [each, typed[each]])) });
    },
    runs: ({ number }) => comparison.show({ number, file: [fileName(text, cards[0]), JSON.stringify(Object.fromEntries(
      written().map((card) => [card.value.run, card.document])))] }),
    file: ({ number, kind }) => comparison.show({ number, file: [fileName(text, cards[0]), comparisonFile(kind, text, isCommon, written())] }),
  });

  /** @param {Partial<CompareValue>} changes */
  function publish(changes) {
    value = { ...value, ...changes, cards: cards.map((card) => ({ ...card.value, first_difference: firstDifference(idsOf(card), idsOf(cards[0])) })) };
    comparison.show(value);
  }

  /** @param {Pick<CompareRequest, 'text' | 'answer' | 'common' | 'cards'>} request */
  async function compare({ text: typedText, answer, common, cards: typed }) {
    status.textContent = '';
    if (!typedText.trim()) throw new Error('The prompt is empty: type something first.');
    const { seed: chosen, ...shared } = /** @type {Record<string, number>} */ (settings.readShared()), name = nameRun();
    const seed = chosen === -1 ? drawSeed() : chosen;
    /** @type {import('../../service.js').Input} */
    const input = answer ? [{ role: 'user', content: withoutBlankEnd(typedText) }] : typedText;
    const fresh = typed.map((own, index) => {
      /** @type {Record<string, any>} */
      const all = { ...shared, ...onCard(index, () => plain(own)), seed: seedOf(seed, common ? 0 : index) };
      /** @type {CardValue} */
      const waiting = { run: `${name}-${index + 1}`, since: 0, tokens: [], state: 'streaming', note: null, length: all.max_new_tokens, first_difference: null, metrics: form.metrics.map(() => null) };
      return { own, settings: all, value: waiting, document: null, metrics: {} };
    });
    isStopped = false;
    try {
      await model.load(); // whose download does not count in the speed of a card
      const [promptError, ...cardErrors] = await model.check(input, [{}, ...fresh.map((card) => card.settings)]); // before the first one writes
      if (promptError) throw promptError; // what is wrong with the prompt is no card's fault
      const failed = cardErrors.findIndex(Boolean);
      if (failed >= 0) onCard(failed, () => { throw cardErrors[failed]; });
      for (const card of fresh) {
        if (isStopped) break;
        await run(card, input, () => {
          [cards, removed, text, isCommon] = [fresh, [], typedText, common]; // the earlier ones stay until the first token is there
          publish({ run: name, busy: true, seed, continued: answer ? '' : text.slice(-MAX_CONTINUED) });
        });
      }
    } finally {
      for (const card of fresh) if (card.value.state === 'streaming') card.value = { ...card.value, state: 'stopped' };
      publish({ busy: false });
    }
    if (!panel.hidden) show(cards[0]);
  }

  /** @param {Card} card @param {import('../../service.js').Input} input @param {() => void} draw */
  async function run(card, input, draw) {
    const began = performance.now();
    const { document, tokens } = await model.run(input, card.settings, (written) => {
      card.value = { ...card.value, tokens: written };
      draw();
    });
    const note = noteOf(document, context), state = document.finish_reason === 'cancelled' ? 'stopped' : 'done';
    const metrics = metricsOf(document, (performance.now() - began) / 1000);
    Object.assign(card, { document, metrics, value: { ...card.value, tokens, note, state, metrics: form.metrics.map((each) => metrics[each.name]) } });
    draw();
  }

  /** @param {Card | undefined} card @param {number | null} [index] */
  function show(card, index = null) {
    if (card?.document) inspector.show(card.value.run, card.document, index);
  }

  /** The cards that have a text. */
  const written = () => cards.filter(({ document }) => document);

  /** @param {Card} card */
  const idsOf = ({ document }) => document?.ids ?? [];

  return { enter: () => (cards.length ? show(cards[0]) : inspector.showExample('compare')) };
}

/**
 * Add the number of a card to what goes wrong with it.
 * @template Result
 * @param {number} index
 * @param {() => Result} work
 */
function onCard(index, work) {
  try {
    return work();
  } catch (error) {
    throw new Error(`Card ${index + 1}: ${/** @type {Error} */ (error).message}`, { cause: error });
  }
}
