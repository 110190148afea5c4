/**
 * The text of an answer, made of tokens that can be clicked: the turns of a conversation, the cards of a comparison.
 *
 * It draws what is new of a text and marks the token that the inspector shows; where the text comes from is not known
 * here.
 *
 * @typedef {{text: string, tokens: [string, number][] | null, run: string | null, state: string}} Answer
 */

/** @type {Map<Node, ReturnType<typeof makeAnswer>>} those on the page, by their nodes */
const answers = new Map();
/** The token that the inspector shows, and how much it looked at the others. */
let marked = { run: null, index: null, levels: null };
listen(SIGNAL.selected, (event) => {
  marked = event.detail;
  for (const [node, answer] of answers) {
    if (node.isConnected) answer.mark(marked);
    else answers.delete(node);
  }
});

/** The text of one answer; `text` is the truth, the tokens are its parts. @param {number} number whose it is */
function makeAnswer(number) {
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

  /** @param {Answer} answer */
  function show(answer) {
    const tokens = answer.tokens || [];
    if (!continues(answer, tokens)) {
      node.replaceChildren();
      spans = [];
      texts = [];
      shown = '';
      run = answer.run;
    }
    const fresh = [];
    for (const [text, p] of tokens.slice(spans.length)) {
      const span = tokenSpan(text, p, spans.length, /\S$/u.test(shown));
      shown += text;
      spans.push(span);
      texts.push(text);
      fresh.push(span);
    }
    if (shown === answer.text) {
      caret.remove();
      node.append(...fresh);
    } else {
      node.textContent = answer.text; // no tokens, or not those of this text
      shown = answer.text;
      spans = [];
      texts = [];
    }
    if (spans.length && !node.querySelector('[tabindex="0"]')) spans[0].tabIndex = 0;
    if (answer.state === 'streaming') node.append(caret);
    else caret.remove();
    if (fresh.length) mark(marked);
  }

  /** Whether it only goes on from what is shown. @param {Answer} answer @param {[string, number][]} tokens */
  function continues(answer, tokens) {
    if (answer.run !== run || tokens.length < spans.length || (!spans.length && shown)) {
      return !tokens.length && !spans.length && answer.text === shown;
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

  const shownAnswer = { node, number, show, mark, run: () => run, token: (index) => spans[index] };
  answers.set(node, shownAnswer);
  return shownAnswer;
}

/** @param {string} text @param {number} p @param {number} index @param {boolean} inLine behind a word */
function tokenSpan(text, p, index, inLine) {
  return make('span', {
    class: 'at-tok', role: 'button', tabindex: -1, text, title: `${visibleText(text)} · ${percent(p)}`,
    'data-level': level(p), 'data-index': index,
    'data-space': inLine && /^ \S/u.test(text),
  });
}

/**
 * Let the tokens inside be clicked, and reached with the keys.
 * @param {HTMLElement} container
 * @param {(answer: ReturnType<typeof makeAnswer>, index: number) => void} ask for a run that the inspector does not show
 * @param {(token: HTMLElement) => void} opened whenever one was
 */
function offerTokens(container, ask, opened = () => {}) {
  /** @param {HTMLElement | null} span the inspector shows it at once, or the server is asked for its run */
  function open(span) {
    if (!span || String(getSelection()).length) return; // somebody is marking text, not clicking a token
    const answer = answers.get(span.parentElement);
    const index = Number(span.dataset.index);
    if (!signal(SIGNAL.select, { run: answer.run(), index })) ask(answer, index);
    opened(span);
  }

  container.addEventListener('click', (event) => open(event.target.closest('.at-tok')));
  container.addEventListener('keydown', (event) => {
    const text = event.target.closest('.at-tok')?.parentElement;
    if (text) walkRow(event, [...text.querySelectorAll('.at-tok:not(:empty)')], open);
  });
}
