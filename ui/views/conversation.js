/**
 * The conversation: bubbles whose answers are made of clickable tokens.
 *
 * It draws the value it is given and changes only what is new in it, so that a streamed token costs one element. It
 * asks for everything else by events: 'token', 'retry', 'undo', 'edit', 'example'.
 *
 * @typedef {{role: 'user' | 'assistant', text: string, tokens: [string, number][] | null, run: string | null,
 *   state: 'done' | 'streaming' | 'stopped', dropped: boolean, note: string | null}} Turn
 * @typedef {{node: HTMLElement, show: (turn: Turn, place: {last: boolean, busy: boolean}) => void, turn: Turn | null,
 *   body: ReturnType<typeof makeBody>}} TurnView
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
/** The token that the inspector shows, and how much it looked at the others. */
let marked = { run: null, index: null, levels: null };

root.replaceChildren(log);
followColour(root);
log.addEventListener('click', (event) => openToken(event.target.closest('.at-tok')));
log.addEventListener('keydown', moveAmongTokens);
listen(SIGNAL.selected, (event) => {
  marked = event.detail;
  for (const view of views) view.body.mark(marked);
});
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
  const pinned = log.scrollHeight - log.scrollTop - log.clientHeight < 48;
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
  const body = makeBody(number);
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

/** The text of one turn; `text` is the truth, the tokens are its parts. @param {number} number */
function makeBody(number) {
  const node = make('div', { class: 'at-text', dir: 'auto' });
  const caret = make('span', { class: 'at-caret', 'aria-hidden': 'true' });
  let run = null;
  let shown = '';
  /** @type {HTMLElement[]} */
  let spans = [];
  /** @type {string[]} theirs, so that no update has to ask the document */
  let texts = [];
  let bright = null;
  let shaded = false;

  /** @param {Turn} turn */
  function show(turn) {
    const tokens = turn.tokens || [];
    if (!continues(turn, tokens)) {
      node.replaceChildren();
      spans = [];
      texts = [];
      shown = '';
      run = turn.run;
    }
    const fresh = [];
    for (const [text, p] of tokens.slice(spans.length)) {
      const span = tokenSpan(text, p, number, spans.length);
      shown += text;
      spans.push(span);
      texts.push(text);
      fresh.push(span);
    }
    if (shown === turn.text) {
      caret.remove();
      node.append(...fresh);
    } else {
      node.textContent = turn.text; // no tokens, or not those of this text
      shown = turn.text;
      spans = [];
      texts = [];
    }
    if (spans.length && !node.querySelector('[tabindex="0"]')) spans[0].tabIndex = 0;
    if (turn.state === 'streaming') node.append(caret);
    else caret.remove();
    if (fresh.length) mark(marked);
  }

  /** Whether the turn only goes on from what is shown. @param {Turn} turn @param {[string, number][]} tokens */
  function continues(turn, tokens) {
    if (turn.run !== run || tokens.length < spans.length || (!spans.length && shown)) {
      return !tokens.length && !spans.length && turn.text === shown;
    }
    return texts.every((text, index) => text === tokens[index][0]);
  }

  /** @param {typeof marked} now the token that the inspector shows, and where it looked */
  function mark(now) {
    const mine = run !== null && now.run === run;
    const wanted = mine && now.index !== null ? spans[now.index] : undefined;
    if (bright !== wanted) {
      bright?.classList.remove('at-shown');
      wanted?.classList.add('at-shown');
      bright = wanted;
    }
    const levels = mine ? now.levels : null;
    if (!levels && !shaded) return;
    spans.forEach((span, index) => {
      if (levels) span.dataset.look = String(levels[index] ?? 0);
      else delete span.dataset.look;
    });
    shaded = Boolean(levels);
  }

  return { node, show, mark };
}

/** @param {string} text @param {number} p @param {number} turn @param {number} index */
function tokenSpan(text, p, turn, index) {
  return make('span', {
    class: 'at-tok', role: 'button', tabindex: -1, text, title: `${visibleText(text)} · ${percent(p)}`,
    'data-level': level(p), 'data-turn': turn, 'data-index': index,
  });
}

/** @param {HTMLElement | null} span the inspector shows it at once, or the server is asked for its run */
function openToken(span) {
  if (!span || String(getSelection()).length) return; // somebody is marking text, not clicking a token
  const turn = Number(span.dataset.turn);
  const index = Number(span.dataset.index);
  if (!signal(SIGNAL.select, { run: views[turn].turn.run, index })) trigger('token', { turn, index });
}

/** @param {KeyboardEvent} event */
function moveAmongTokens(event) {
  const span = event.target.closest('.at-tok');
  if (!span) return;
  if (event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    openToken(span);
    return;
  }
  const all = [...span.parentElement.querySelectorAll('.at-tok')].filter((other) => other.textContent);
  const place = all.indexOf(span);
  const goal = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: all.length - 1 }[event.key];
  if (goal === undefined) return;
  event.preventDefault();
  if (!all[goal]) return;
  span.tabIndex = -1;
  all[goal].tabIndex = 0;
  all[goal].focus();
}

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
    if (event.key === 'Escape') close();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
  });
  save.addEventListener('click', send);
  cancel.addEventListener('click', close);
  view.node.classList.add('at-editing');
  view.node.prepend(form);
  fit();
  area.focus();
}
