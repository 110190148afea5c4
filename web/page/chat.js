/**
 * Chat: a conversation with the model.
 */

/** @import { TurnValue } from '../../ui/runs/runs_contract' */
/** @import { Tab } from './page.js' */

import { start } from '../../ui/chat/conversation.js';
import { dialogue } from '../../ui/examples/dialogue.js';
import { makeButton } from '../../ui/kit/js/dom.js';
import { documentToOpen } from '../../ui/kit/js/signals.js';
import { makeAsk } from './ask.js';
import { mount } from './component.js';
import { nameRun } from './inspector.js';
import { settingsOf } from './settings_panel.js';
import { finishedTurn, growingTurn, userTurn } from './turns.js';

/** @param {Tab} tab */
export function startTab({ panel, model, context, settings, inspector, examples, prompt }) {
  /** @type {TurnValue[]} */
  let turns = [];
  /** @type {{turns: TurnValue[], label: string}[]} what each Undo and Clear took away, and the button that brings it back */
  let undone = [];
  let number = 0; // of the last drawing
  /** @type {Map<string, import('../service.js').Result['document']>} the runs of the answers, by their names */
  const runs = new Map();
  const redo = makeButton('Redo', () => {
    draw(undone.pop().turns);
    if (redo.hidden) ask.box.focus();
    if (ask.box.value === turns.at(-2).text) ask.box.value = '';
    enter();
  });
  const clear = makeButton('Clear', () => {
    undone.push({ turns, label: 'Undo clear' });
    draw([]);
    ask.status.textContent = '';
    ask.box.focus();
    enter();
  });
  const ask = makeAsk(model, { label: 'Message', placeholder: 'Type a message', verb: 'Send', tools: [redo, clear] }, (text, { before = turns, branch }) => answer(text, before, branch));
  const conversation = mount(panel, start, 'attend-conversation', { beginning: { recorded: true }, value: null }, {
    example: ({ text }) => ask.submit(text),
    token: ({ turn, index }) => show(turns[turn].run, index),
    proceed({ turn }) {
      const run = runs.get(turns[turn].run);
      take({ run, place: run.steps.length, token: null });
    },
    retry: ({ turn }) => ask.submit(turns[turn - 1].text, { before: turns.slice(0, turn - 1) }),
    edit: ({ turn, text }) => ask.submit(text, { before: turns.slice(0, turn) }),
    undo({ turn }) {
      undone.push({ turns, label: 'Redo' });
      ask.box.value = turns[turn - 1].text;
      draw(turns.slice(0, turn - 1));
      ask.status.textContent = '';
      enter();
    },
  });
  panel.append(ask.node);
  ask.box.value = prompt;
  documentToOpen.subscribe(null, ({ document }) => {
    if (document.kind !== 'chat') return;
    undone = [];
    draw(dialogue.turns);
  });
  draw([]);

  /** @param {TurnValue[]} next @param {boolean} [busy] */
  function draw(next, busy = false) {
    turns = next;
    redo.hidden = busy || !undone.length;
    redo.textContent = undone.at(-1)?.label ?? '';
    clear.hidden = busy || !turns.length;
    conversation.show({ turns, examples, busy, number: number += 1 });
  }

  /** @param {string} text @param {TurnValue[]} before @param {import('../service.js').Branch} [branch] */
  async function answer(text, before, branch) {
    const earlier = turns, run = nameRun(), promptTurns = [...before, userTurn(text)];
    const messages = promptTurns.map(({ role, text: content }) => ({ role, content }));
    const typed = ask.box.value, kept = branch ? earlier[before.length + 1].tokens.slice(0, branch.place) : [];
    if (!branch && typed === text) ask.box.value = ''; // a draft of another message stays
    draw([...promptTurns, growingTurn(model.name, run, kept)], true);
    inspector.await(run);
    try {
      const result = await model.run(branch ?? messages, settingsOf(branch, settings.read()), (tokens) => draw([...promptTurns, growingTurn(model.name, run, tokens)], true));
      runs.set(run, result.document);
      undone = [];
      draw([...promptTurns, finishedTurn(run, result, context)].map((turn, place) => ({ ...turn, dropped: branch ? turn.dropped : place < result.dropped })));
      for (const name of runs.keys()) if (!turns.some((turn) => turn.run === name)) runs.delete(name);
      if (!panel.hidden) show(run, branch?.place);
      return result.document;
    } catch (error) {
      ask.box.value ||= branch ? typed : text; // nothing that was typed is lost
      draw(earlier);
      inspector.await(run, false);
      throw error;
    }
  }

  /** @param {string} run @param {number | null} [index] */
  function show(run, index = null) {
    if (runs.has(run)) inspector.show(run, runs.get(run), index);
  }

  /** Continue the answer, perhaps after another token; what followed is dropped. @param {import('../service.js').Branch} branch */
  function take(branch) {
    const turn = turns.findIndex(({ run }) => run && runs.get(run) === branch.run);
    if (turn > 0) ask.submit(turns[turn - 1].text, { before: turns.slice(0, turn - 1), branch });
  }

  /** A conversation may also go on from the example. */
  function enter() {
    const { run } = turns.at(-1) ?? {};
    if (runs.has(run)) show(run);
    else inspector.showExample('chat');
  }

  return { enter, take };
}
