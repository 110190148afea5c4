/**
 * The conversation: bubbles whose answers are made of clickable tokens.
 *
 * It draws only what is new, so a streamed token costs one element. Its events are those of `ConversationValue`.
 *
 * @typedef {{node: HTMLElement, show: (turn: TurnValue, standing: {last: boolean, busy: boolean}) => void, turn: TurnValue | null,
 *   body: import('../runs/answer.js').AnswerView, format: () => void, tint: ReturnType<typeof makeTint>}} TurnView
 */

/** @import { TurnValue } from '../runs/runs_contract' */
/** @import { ConversationValue } from './chat_contract' */

import { offersExamples } from '../examples/example.js';
import { find, iconButton, make, setText, typeInto } from '../kit/js/dom.js';
import { answeredWithout, interruptedText, settledText, textView } from '../kit/js/signals.js';
import { followColour } from '../kit/js/theme.js';
import { unpacked } from '../kit/js/values.js';
import { followEnd } from '../kit/parts/follow_end.js';
import { byline, makeBubble, offerTokens } from '../runs/answer.js';
import { followTurns, stage } from '../runs/turns.js';
import { makeTint, tintMessages } from './attended.js';
import { editMessage } from './edit.js';
import { makeBeginning } from './example.js';
import { makeReading } from './formatted/formatted.js';
import { formatted } from './formatted/requests.js';
import { makeTools } from './tools.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const { element, props, trigger } = component;
  const root = find(element, '.attend-conversation');
  const isRecorded = offersExamples(unpacked(props.beginning));
  const log = make('div', {
    class: 'at-log at-scroll', role: 'log', 'aria-live': 'polite', 'aria-label': 'Conversation', tabindex: 0,
  });
  const divider = make('div', { class: 'at-row at-sm at-quiet at-divider', role: 'separator', text: 'no longer in the context' });
  /** @type {TurnView[]} */
  let views = [];
  let isRunning = false; // during a run nothing can be sent
  let isAwaited = false; // an answer has begun, and the page is to scroll to it on a small screen
  let isFormatted = false;
  let taken = 0; // how many messages were taken out of the message box

  const newest = iconButton('down', 'Newest message', () => {
    log.focus({ preventScroll: true }); // the button is about to be hidden
    end.toEnd();
  });
  newest.classList.add('at-newest');
  newest.hidden = true;
  root.replaceChildren(log, newest);
  const end = followEnd(log, (isAtEnd) => { newest.hidden = isAtEnd; }, () => {
    if (isAwaited) log.scrollIntoView({ block: 'nearest' });
    isAwaited = false;
  });
  // What opens under the conversation covers its oldest messages, not its newest.
  new ResizeObserver(stayAtEnd).observe(log);
  // The message box sticks to the bottom of the page and would cover what the keyboard reaches.
  root.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element && target.matches(':focus-visible')) target.scrollIntoView({ block: 'nearest' });
  });
  followColour(root);
  offerTokens(log, (answer, index) => trigger('token', { turn: answer.number, index }));
  followTurns(component, draw, rescue);
  tintMessages(() => views.map(({ turn, tint }) => ({ run: turn.run, tint })));
  answeredWithout.subscribe(root, (version) => trigger('without', version));
  textView.subscribe(root, (name) => {
    isFormatted = name === 'formatted';
    for (const view of views) view.format();
    stayAtEnd();
  });

  function stayAtEnd() {
    if (end.isAtEnd && views.length) end.toEnd();
  }

  /** @param {ConversationValue} value */
  function draw({ turns, examples, busy, sent = 0 }) {
    const isBeginning = busy && !isRunning;
    isRunning = busy;
    const hasNewTurns = turns.length > views.length;
    const hadTurns = views.length > 0;
    if (sent > taken) takeOutOfBox(turns.at(-2)?.text);
    taken = sent;
    document.body.dataset.chat = stage(turns);
    if (turns.length) drawTurns(turns, busy);
    else drawEmpty(examples, busy);
    log.setAttribute('aria-busy', String(busy)); // a screen reader reads the answer once, when it is complete
    isAwaited ||= isBeginning;
    if (turns.length) end.follow(hasNewTurns || isAwaited);
    if (busy ? isBeginning : turns.length || hadTurns) settledText.publish({ kind: 'chat', isEmpty: !turns.length, isGrowing: busy });
  }

  /** The message was sent; what has been typed since stays. @param {string | undefined} message */
  function takeOutOfBox(message) {
    const box = find(document.body, '#attend-message textarea', HTMLTextAreaElement);
    if (message && box.value.startsWith(message)) typeInto(box, box.value.slice(message.length).trimStart());
  }

  /**
   * The server is lost: a begun answer is saved, and a message without an answer returns to the box.
   * @param {ConversationValue} value @param {(saved: Promise<unknown>) => void} until
   */
  function rescue(value, until) {
    const box = find(document.body, '#attend-message textarea', HTMLTextAreaElement);
    const [question, answer] = value.turns.slice(-2);
    const isUnanswered = !answer.text && !box.value;
    const turns = isUnanswered ? value.turns.slice(0, -2) : value.turns;
    if (isUnanswered) {
      typeInto(box, question.text);
      draw({ ...value, turns });
    }
    if (turns.length) interruptedText.publish({ kind: 'chat', turns, until });
  }

  /** @param {TurnValue[]} turns @param {boolean} busy */
  function drawTurns(turns, busy) {
    log.querySelector('.at-empty')?.remove();
    for (const view of views.splice(turns.length)) view.node.remove();
    turns.forEach((turn, number) => {
      const old = views[number];
      if (!old || old.turn.role !== turn.role) {
        views[number] = makeTurn(turn.role, number);
        if (old) old.node.replaceWith(views[number].node);
        else log.append(views[number].node);
      }
      views[number].show(turn, { last: number === turns.length - 1, busy });
    });
    const first = turns.findIndex((turn) => !turn.dropped); // in the context
    if (first > 0 && views[first].node.previousElementSibling !== divider) views[first].node.before(divider);
    if (first <= 0) divider.remove();
  }

  /** @param {string[]} examples @param {boolean} busy */
  function drawEmpty(examples, busy) {
    views = [];
    log.replaceChildren(makeBeginning({ examples, busy, isRecorded }, (text) => trigger('example', { text })));
  }

  /** @param {'user' | 'assistant'} role @param {number} number @returns {TurnView} */
  function makeTurn(role, number) {
    const { node: bubble, body } = makeBubble(role, number);
    const reading = makeReading(body.node, {
      texts: () => (view.turn.tokens ?? []).map(({ text }) => text),
      open(index) {
        textView.publish('tokens');
        const token = body.token(index);
        token.scrollIntoView({ block: 'nearest' });
        token.click();
      },
    });
    if (role === 'assistant') bubble.append(reading.node);
    const droppedNote = make('span', { class: 'at-hidden', text: 'No longer in the context. ', hidden: true });
    bubble.prepend(droppedNote);
    const note = make('p', { class: 'at-note' });
    const tools = makeTools({
      turn: () => view.turn, edit: () => edit(view, number), turns: () => views.map((each) => each.turn),
      trigger: (event, data) => trigger(event, { turn: number, ...data }),
    });
    const node = make('div', { class: `at-turn at-${role}` }, bubble, note, tools.node);

    /** @type {TurnView} */
    const view = {
      node, body, turn: null, tint: makeTint(body.node),
      show(turn, standing) {
        tools.draw(turn, standing);
        if (view.turn === turn) return;
        view.turn = turn;
        node.classList.toggle('at-dropped', turn.dropped);
        droppedNote.hidden = !turn.dropped;
        bubble.title = turn.dropped ? 'No longer in the context: the model doesn’t read this message' : '';
        body.show(turn);
        view.format();
        setText(note, byline(turn));
      },
      format() {
        const isReady = view.turn.state !== 'streaming'; // its tokens come too fast to be parsed each time
        reading.show(isFormatted && isReady && role === 'assistant' ? formatted(view.turn.text) : null);
      },
    };
    return view;
  }

  /** @param {TurnView} view @param {number} number */
  const edit = (view, number) => editMessage(view.node, view.turn.text, (text) => {
    if (!isRunning) trigger('edit', { turn: number, text });
    return !isRunning;
  });
}
