/**
 * The conversation: bubbles whose answers are made of clickable tokens.
 *
 * It only draws what is new, so a streamed token costs one element. Everything else is requested by the events of
 * `ConversationValue`.
 *
 * @typedef {{node: HTMLElement, show: (turn: TurnValue, standing: {last: boolean, busy: boolean}) => void, turn: TurnValue | null,
 *   body: import('../runs/answer.js').ShownAnswer, format: () => void, tint: ReturnType<typeof makeTint>}} TurnView
 */

/** @import { TurnValue } from '../runs/runs_contract' */
/** @import { ConversationValue } from './chat_contract' */

import { find, iconButton, make, typeInto } from '../kit/js/dom.js';
import { interruptedText, settledText, textView } from '../kit/js/signals.js';
import { followColour } from '../kit/js/theme.js';
import { unpacked } from '../kit/js/values.js';
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
  const isRecorded = unpacked(props.beginning).recorded;
  const log = make('div', {
    class: 'at-log at-scroll', role: 'log', 'aria-live': 'polite', 'aria-label': 'Conversation', tabindex: 0,
  });
  const divider = make('div', { class: 'at-row at-sm at-quiet at-divider', role: 'separator', text: 'no longer in the context' });
  /** @type {TurnView[]} */
  let views = [];
  let isRunning = false; // nothing can be sent then
  let isAwaited = false; // an answer has begun, and is to be seen: on a small screen the page may stand elsewhere
  let isFormatted = false; // whether answers are shown so

  const newest = iconButton('down', 'Newest message', () => {
    log.focus({ preventScroll: true }); // the button goes
    toEnd();
  });
  newest.classList.add('at-newest');
  newest.hidden = true;
  root.replaceChildren(log, newest);
  let pinned = true; // whether the end is in view
  log.addEventListener('scroll', () => {
    pinned = log.scrollHeight - log.scrollTop - log.clientHeight < 48;
    newest.hidden = pinned;
  });
  let scrolling = 0;
  new ResizeObserver(() => {
    if (pinned && views.length) log.scrollTop = log.scrollHeight; // what opens under it takes the room of the oldest, not of the newest
  }).observe(log);
  root.addEventListener('focusin', ({ target }) => { // by the keyboard: not behind the message box, which sticks below
    if (target instanceof Element && target.matches(':focus-visible')) target.scrollIntoView({ block: 'nearest' });
  });
  followColour(root);
  offerTokens(log, (answer, index) => trigger('token', { turn: answer.number, index }));
  followTurns(component, draw, rescue);
  tintMessages(() => views.map(({ turn, tint }) => ({ run: turn.run, tint })));
  textView.subscribe(root, (shown) => {
    isFormatted = shown === 'formatted';
    for (const view of views) view.format();
    if (pinned && views.length) toEnd();
  });

  /** @param {ConversationValue} value */
  function draw({ turns, examples, busy }) {
    const isBeginning = busy && !isRunning;
    isRunning = busy;
    const grown = turns.length > views.length;
    const hadTurns = views.length > 0;
    document.body.dataset.chat = stage(turns);
    if (turns.length) drawTurns(turns, busy);
    else drawEmpty(examples, busy);
    log.setAttribute('aria-busy', String(busy)); // a reader hears the answer once, when it is whole
    isAwaited ||= isBeginning;
    if (turns.length && (pinned || grown || isAwaited)) scrolling ||= requestAnimationFrame(toEnd);
    if (busy ? isBeginning : turns.length || hadTurns) settledText.publish({ kind: 'chat', isEmpty: !turns.length, isGrowing: busy });
  }

  /** The server is lost: what it has begun to answer is saved, and what it hasn't returns to the box. @param {any} value @param {any} until */
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

  /** Once a frame, since asking for the height lays the page out. */
  function toEnd() {
    scrolling = 0;
    log.scrollTop = log.scrollHeight;
    if (isAwaited) log.scrollIntoView({ block: 'nearest' });
    isAwaited = false;
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
    const kept = turns.findIndex((turn) => !turn.dropped);
    if (kept > 0 && views[kept].node.previousElementSibling !== divider) views[kept].node.before(divider);
    if (kept <= 0) divider.remove();
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
    const forgotten = make('span', { class: 'at-hidden', text: 'No longer in the context. ', hidden: true });
    bubble.prepend(forgotten);
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
        forgotten.hidden = !turn.dropped;
        bubble.title = turn.dropped ? 'No longer in the context: the model doesn’t read this message' : '';
        body.show(turn);
        view.format();
        const ending = byline(turn);
        if (note.textContent !== ending) note.textContent = ending;
      },
      format() {
        const wants = isFormatted && role === 'assistant' && view.turn.state !== 'streaming'; // its tokens come too fast to be parsed each time
        reading.show(wants ? formatted(view.turn.text) : null);
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
