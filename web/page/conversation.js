/**
 * What was said on the page without a server, and the box for more: messages, or one text that the model continues.
 */

/** @import { RunDocument } from '../../decoding/run/document' */

import { make, makeButton } from '../../ui/kit/js/dom.js';

/**
 * @typedef {import('../text/conversation.js').Message} Message
 * @param {{run: (input: Message[] | string, onText: (text: string) => void) => Promise<RunDocument>, stop: () => void,
 *   show: (document: RunDocument) => void}} actions `show`: in the inspector
 */
export function makeConversation({ run, stop, show }) {
  /** @type {Message[]} */
  let messages = [];
  const log = make('div', { class: 'at-alone-log', 'aria-live': 'polite' });
  const continues = make('input', { type: 'checkbox' });
  const box = make('textarea', { rows: 2, placeholder: 'Type a message', 'aria-label': 'Message', onkeydown: sendOnEnter });
  const send = make('button', { type: 'submit', class: 'at-primary', text: 'Send', disabled: true });
  const halt = makeButton('Stop', stop, { hidden: true });
  const form = make('form', { class: 'at-row at-gap-sm at-alone-form', onsubmit: answer }, box, send, halt);
  const bar = make('div', { class: 'at-row at-wrap at-between at-sm' },
    make('label', { class: 'at-row at-gap-xs' }, continues, 'continue my text instead of answering'), makeButton('Clear', clear));

  /** @param {KeyboardEvent} event */
  function sendOnEnter(event) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!send.disabled) form.requestSubmit();
  }

  /** @param {Event} event */
  async function answer(event) {
    event.preventDefault();
    const text = box.value;
    if (!text.trim()) return;
    /** @type {Message[] | string} */
    const input = continues.checked ? text : [...messages, { role: 'user', content: text }];
    const said = make('p', { class: 'at-alone-said', text });
    const written = make('p', { class: 'at-alone-written' });
    log.append(said, written);
    written.scrollIntoView({ block: 'nearest' });
    busy(true);
    try {
      const document = await run(input, (so_far) => { written.textContent = so_far; });
      written.textContent = document.text;
      written.tabIndex = 0;
      for (const kind of ['click', 'focus']) written.addEventListener(kind, () => show(document));
      if (Array.isArray(input)) messages = [...input, { role: 'assistant', content: document.text }];
      box.value = '';
      show(document);
    } catch {
      said.remove(); // the text is still in the box, and the reason stands below it
      written.remove();
    }
    busy(false);
  }

  /** @param {boolean} isBusy */
  function busy(isBusy) {
    send.disabled = isBusy;
    halt.hidden = !isBusy;
    if (!isBusy) box.focus();
  }

  function clear() {
    messages = [];
    log.replaceChildren();
  }

  return { node: make('div', {}, log, form, bar), enable: () => busy(false) };
}
