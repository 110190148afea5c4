/**
 * The loop: the text so far, the most probable tokens, the one that is chosen, and when the text ends.
 */

/** @import { GenerationControls, GenerationPart } from './chapter.js' */

import { explained } from '../../glossary/marking.js';
import { find, headCell, make, makeTable } from '../../kit/js/dom.js';
import { counted, percent, tokenChip, visibleText } from '../../kit/js/text.js';
import { choiceSwitch, labelled, lessonPart, paragraph, plainButton, sideBySide } from '../lesson.js';
import { extentBar } from '../pieces.js';

/** @param {GenerationControls} controls @returns {GenerationPart} */
export function loopPart({ change, toEnd }) {
  /** @type {any} */
  let shown = null;
  const restart = (changes) => change({ ...changes, tokens: [] });
  /** Append a token to the text in sight: a second click before the answer asks the same again. @param {number} token */
  const append = (token) => change({ tokens: [...shown.tokens, token] });
  const prompt = make('input', {
    type: 'text', class: 'at-lesson-wide', maxlength: 300, dir: 'auto', onchange: () => restart({ prompt: prompt.value }),
  });
  const mode = choiceSwitch('The model', [['message', 'answers a message'], ['text', 'continues a text']],
    (value) => restart({ mode: value, prompt: undefined }));
  const how = choiceSwitch('Choose', [['greedy', 'the most probable token'], ['sample', 'at random, by probability']],
    (value) => restart({ sample: value === 'sample' }));
  const next = make('button', { type: 'button', class: 'at-primary', text: 'Next token', onclick: () => append(shown.next.token) });
  const rest = plainButton('To the end', toEnd);
  const back = plainButton('Undo', () => change({ tokens: shown.tokens.slice(0, -1) }));
  const draws = plainButton('Other random draws', () => restart({ seed: shown.seed + 1 }));
  const strip = make('p', { class: 'at-gen-text', dir: 'auto' });
  const line = make('p', { class: 'at-lesson-text', role: 'status' });
  const list = make('ul', { class: 'at-gen-next', 'aria-label': 'Most probable next tokens' });
  const special = explained(make('p', { class: 'at-quiet', text: 'A message is read between special tokens, which mark where it begins and ends and who '
    + 'speaks.' }));
  const missing = make('p', { class: 'at-quiet', hidden: true, text: 'None of the loaded models continues texts, so '
    + 'this is the tree of words from below: choose attend-chat in the settings to see a model that was trained.' });
  const ending = endingPart();
  const node = lessonPart('One token at a time',
    paragraph('Below the text are the tokens that the model finds most probable now. The one that is chosen is '
      + 'marked; to append another one, click it. In the code, the loop is `generate` in decoding/generate.py.'),
    missing, sideBySide(mode.node, labelled('Text', prompt)), sideBySide(how.node, draws),
    strip, special, sideBySide(next, rest, back, plainButton('Start again', () => restart({}))), line, list);

  function draw({ loop }) {
    shown = loop;
    const has = Boolean(loop.model);
    missing.hidden = has;
    mode.node.hidden = !loop.chats;
    special.hidden = loop.mode !== 'message';
    prompt.disabled = !has;
    if (document.activeElement !== prompt) prompt.value = loop.prompt;
    mode.put(loop.mode);
    how.put(loop.sample ? 'sample' : 'greedy');
    draws.hidden = !loop.sample;
    next.disabled = rest.disabled = !loop.next;
    back.disabled = !loop.tokens.length;
    strip.replaceChildren(
      ...loop.read.map((token) => make('span', { class: 'at-gen-read' }, tokenChip(token, true))),
      ...loop.written.map(([token, p]) => make('span', { class: 'at-gen-written', title: percent(p) }, tokenChip(token, true))));
    line.textContent = loop.next ? chosenLine(loop) : endedLine(loop);
    const hadFocus = [list, next, rest].some((each) => each.contains(document.activeElement));
    list.replaceChildren(...(loop.next ? candidateRows(loop, append) : []));
    if (hadFocus && !loop.next) back.focus(); // the others can't be pressed any more
    else if (hadFocus && document.activeElement === document.body) find(list, 'button').focus();
    ending.draw(loop);
  }

  return { nodes: [node, ending.node], draw };
}

/** What is chosen next, and why. */
function chosenLine({ next: { token, draw, share, candidates }, vocabulary_size: size }) {
  const [, label, p] = candidates.find(([id]) => id === token) ?? [token, 'another token', null];
  const quoted = p === null ? label : `“${visibleText(label)}”`;
  if (draw === null) return `Of ${counted.format(size)} tokens, ${quoted} is the most probable, with ${percent(p)}.`;
  const where = share ? `, whose stretch of the line from 0 to 1 runs from ${share.map((end) => end.toFixed(3)).join(' to ')}` : '';
  return `The random number ${draw.toFixed(3)} falls on ${quoted}${where}.`;
}

/** Why there is no next token. */
function endedLine({ ended, written }) {
  const count = `${written.length} ${written.length === 1 ? 'token' : 'tokens'}`;
  return ended === 'end token'
    ? `The end token was chosen: the text is finished after ${count}.`
    : `This is the maximum length here, ${count}, so the loop stops, whether or not the text is finished.`;
}

/** The most probable tokens, each a button that appends it. */
function candidateRows({ next: { candidates, token, rest } }, append) {
  const most = Math.max(...candidates.map(([, , p]) => p));
  return [...candidates.map(([id, label, p, isEnd]) => make('li', {},
    make('button', {
      type: 'button', class: id === token ? 'at-gen-chosen' : null, onclick: () => append(id),
      title: id === token ? 'This one is chosen' : 'Append this token instead',
    }, make('span', {}, tokenChip(label), isEnd ? make('small', { text: ' end token' }) : ''), extentBar(p / most),
    make('span', { class: 'at-near-number', text: percent(p) })))),
  make('li', { class: 'at-quiet at-gen-rest' }, make('span', { text: 'all others' }), extentBar(Math.min(1, rest / most)),
    make('span', { class: 'at-near-number', text: percent(rest) }))];
}

/** When the loop stops: the end token's probability at every step. */
function endingPart() {
  const line = make('p', { class: 'at-lesson-text', role: 'status' });
  const table = make('div', { class: 'at-small-scroll', tabindex: 0, role: 'group', 'aria-label': 'Tokens so far' });
  const node = lessonPart('When does it stop?',
    paragraph('The end of a text is a token like any other. It has a probability at every step, and when it is '
      + 'chosen, the loop stops. The model learned where it belongs from the texts that it was trained on, which '
      + 'end with it. The second way to stop is a maximum length, which cuts the text off wherever it is.'),
    line, table);

  function draw({ ends, written, next, most }) {
    const now = next?.candidates.filter(([, , , isEnd]) => isEnd).reduce((sum, [, , p]) => sum + p, 0);
    const name = ends.length ? ends.map((end) => `“${visibleText(end)}”`).join(' or ') : '';
    line.textContent = `${name ? `The end token is ${name}` : 'This model has no end token'}`
      + `${next && name ? `; now its probability is ${percent(now)}` : ''}. The maximum length here is ${most} tokens.`;
    table.hidden = !written.length;
    const head = ['', 'Token', 'Its probability', 'End token instead'].map((text) => headCell('col', text));
    table.replaceChildren(makeTable({ class: 'at-small at-gen-steps' }, head, written.map(([token, p, end], index) =>
      make('tr', {}, make('td', { text: index + 1 }), make('td', {}, tokenChip(token)), make('td', { text: percent(p) }),
        make('td', {}, make('span', { class: 'at-gen-end' }, extentBar(end), make('span', { text: percent(end) })))))));
    table.scrollTop = table.scrollHeight; // to the newest
  }

  return { node, draw };
}
