/**
 * The conversation: bubbles whose answers are made of clickable tokens.
 *
 * It draws the value it is given and changes only what is new in it, so that a streamed token costs one element. It
 * asks for everything else by events: 'token', 'retry', 'undo', 'edit', 'example'.
 *
 * @typedef {{role: 'user' | 'assistant', text: string, tokens: [string, number][] | null, run: string | null,
 *   state: 'done' | 'streaming' | 'stopped', dropped: boolean, note: string | null}} Turn
 * @typedef {{node: HTMLElement, show: (turn: Turn, place: {last: boolean, busy: boolean}) => void, turn: Turn | null,
 *   body: ReturnType<typeof makeAnswer>}} TurnView
 */

const root = element.querySelector('.attend-conversation');
const log = make('div', {
  class: 'at-log', role: 'log', 'aria-live': 'polite', 'aria-label': 'Conversation', tabindex: 0,
});
const divider = make('div', { class: 'at-divider', role: 'separator', text: 'no longer in the context' });
/** @type {string[]} the turns as they came, so that only a changed one is read again */
const packed = [];
/** @type {Turn[]} */
const turns = [];
/** @type {TurnView[]} */
let views = [];

root.replaceChildren(log);
let pinned = true; // whether the end is in view
log.addEventListener('scroll', () => {
  pinned = log.scrollHeight - log.scrollTop - log.clientHeight < 48;
});
new ResizeObserver(() => {
  if (pinned) log.scrollTop = log.scrollHeight; // what opens under it takes the room of the oldest, not of the newest
}).observe(log);
followColour(root);
offerTokens(log, (answer, index) => trigger('token', { turn: answer.number, index }));
watch('value', draw);
draw();

function draw() {
  const value = props.value || { turns: [], examples: [], busy: false };
  packed.length = turns.length = Math.min(packed.length, value.turns.length);
  value.turns.forEach((text, number) => {
    if (packed[number] === text) return;
    packed[number] = text;
    turns[number] = unpacked(text);
  });
  const grown = turns.length > views.length;
  if (turns.length) drawTurns(value.busy);
  else drawEmpty(value.examples || [], value.busy);
  log.setAttribute('aria-busy', String(value.busy)); // a reader hears the answer once, when it is whole
  if (pinned || grown) log.scrollTop = log.scrollHeight;
}

/** @param {boolean} busy */
function drawTurns(busy) {
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
  const chips = examples.map((text) => {
    const chip = make('button', { type: 'button', class: 'at-example', dir: 'auto', disabled: busy, text });
    chip.addEventListener('click', () => trigger('example', { text }));
    return chip;
  });
  log.replaceChildren(
    make('div', { class: 'at-empty' },
      make('p', { class: 'at-empty-title', text: 'Say something, and watch every word being chosen.' }),
      make('p', {
        class: 'at-quiet', text: 'Each token of the answer can be clicked: it shows what else could have stood there.',
      }),
      make('div', { class: 'at-examples' }, ...chips)),
  );
}

/** @param {'user' | 'assistant'} role @param {number} number @returns {TurnView} */
function makeTurn(role, number) {
  const user = role === 'user';
  const body = makeAnswer(number);
  const bubble = make('div', { class: 'at-bubble' },
    make('span', { class: 'at-hidden', text: user ? 'You: ' : 'Answer: ' }), body.node);
  const note = make('p', { class: 'at-note' });
  const tools = make('div', { class: 'at-tools' });
  const node = make('div', { class: `at-turn at-${role}` }, bubble, note, tools);
  let toolsFor = '';

  /** @type {TurnView} */
  const view = {
    node, body, turn: null,
    show(turn, { last, busy }) {
      view.turn = turn;
      node.classList.toggle('at-dropped', turn.dropped);
      body.show(turn);
      const notes = [turn.state === 'stopped' ? 'stopped' : '', turn.note || ''].filter(Boolean).join(' · ');
      if (note.textContent !== notes) note.textContent = notes;
      const wanted = [busy, last, turn.state === 'streaming'].join();
      if (toolsFor !== wanted) drawTools(turn, last, busy);
      toolsFor = wanted;
    },
  };

  /** @param {Turn} turn @param {boolean} last @param {boolean} busy */
  function drawTools(turn, last, busy) {
    const copyButton = iconButton('copy', 'Copy', () => copy(view.turn.text, copyButton));
    const buttons = [];
    if (turn.state !== 'streaming') buttons.push(copyButton);
    if (user && !busy) buttons.unshift(iconButton('edit', 'Edit', () => edit(view, number)));
    if (!user && last && !busy) {
      const copyAll = iconButton('copyAll', 'Copy the whole conversation', () => copy(transcript(), copyAll));
      buttons.unshift(
        iconButton('retry', 'Retry: answer again', () => trigger('retry', { turn: number })),
        iconButton('undo', 'Undo: take back your message and this answer', () => trigger('undo', { turn: number })),
      );
      buttons.push(copyAll);
    }
    tools.replaceChildren(...buttons);
  }
  return view;
}

const transcript = () =>
  views.map(({ turn }) => `${turn.role === 'user' ? 'User' : 'Assistant'}: ${turn.text}`).join('\n\n') + '\n';

/** Change a message in its place. @param {TurnView} view @param {number} number */
function edit(view, number) {
  const area = make('textarea', { class: 'at-edit-text', rows: 2, 'aria-label': 'Edit your message', dir: 'auto' });
  area.value = view.turn.text;
  const save = make('button', { type: 'button', class: 'at-primary', text: 'Save & resend' });
  const cancel = make('button', { type: 'button', class: 'at-plain', text: 'Cancel' });
  const form = make('div', { class: 'at-edit' }, area, make('div', { class: 'at-edit-buttons' },
    make('span', { class: 'at-keys', text: 'Ctrl+Enter sends, Esc cancels' }), save, cancel));
  const fit = () => {
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight + 2}px`;
    save.disabled = !area.value.trim();
  };
  const close = () => {
    form.remove();
    view.node.classList.remove('at-editing');
    view.node.querySelector('.at-icon')?.focus();
  };
  const send = () => {
    if (save.disabled || props.value.busy) return;
    close();
    trigger('edit', { turn: number, text: area.value });
  };
  area.addEventListener('input', fit);
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      event.preventDefault(); // it stops nothing
      close();
    }
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
  });
  save.addEventListener('click', send);
  cancel.addEventListener('click', close);
  view.node.classList.add('at-editing');
  view.node.prepend(form);
  fit();
  area.focus();
}
