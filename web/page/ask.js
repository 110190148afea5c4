/**
 * A box for a text, the buttons that send it, stop what it started and make a link for a class, and a line that says how it goes.
 */

/** @import { RunDocument } from '../../decoding/run/run_document' */
/** @import { PageModel } from './models.js' */

import { MAX_PROMPT, modelParts, withParts } from '../../ui/kit/address/address.js';
import { make, makeButton } from '../../ui/kit/js/dom.js';
import { classLinkWanted, shownTab } from '../../ui/kit/js/signals.js';
import { makeClassButton } from '../../ui/kit/parts/class_button.js';

/**
 * @param {PageModel} model
 * @param {{label: string, placeholder: string, verb: string, rows?: number, tools?: HTMLElement[]}} words `tools`: more buttons
 * @param {(text: string, changes: Record<string, any>) => Promise<RunDocument>} send `changes`: what the tab wants otherwise
 */
export function makeAsk(model, { label, placeholder, verb, rows = 2, tools = [] }, send) {
  const box = make('textarea', { class: 'at-grow at-text-field', rows, placeholder, 'aria-label': label, dir: 'auto', onkeydown: sendOnEnter, oninput: () => { isTyped = true; } });
  const go = make('button', { type: 'submit', class: 'at-primary', text: verb, title: 'Enter' });
  const halt = makeButton('Stop', () => model.stop(), { hidden: true });
  const status = make('p', { class: 'at-sm at-quiet', role: 'status' });
  const toolRow = make('span', { class: 'at-row at-gap-sm at-ask-tools' }, ...tools);
  const isTall = rows > 2; // then there is room for the tools beside the button
  const node = make('form', { class: 'at-stack at-gap-xs at-alone-ask', onsubmit: (event) => {
    event.preventDefault();
    submit();
  } }, make('div', { class: isTall ? 'at-stack at-gap-sm' : 'at-row at-gap-sm' }, box, make('div', { class: 'at-row at-gap-sm' }, go, halt, ...(isTall ? [toolRow] : []))),
  make('div', { class: 'at-row at-between' }, ...(isTall ? [] : [toolRow]), status, makeClassButton(() => classLinkWanted.publish(address()))));
  let isBusy = false;
  let isTyped = false; // whether the visitor has changed the box since its text was sent
  /**
   * @type {{text: string, seed: number | null, after: string | null}} the text that was sent last, its seed, and what its run left
   *   in the box; null if that was typed meanwhile
   */
  let last = { text: '', seed: null, after: '' };

  model.follow((words, isReady) => {
    if (!isBusy || !isReady) status.textContent = words;
  });

  /** @param {KeyboardEvent} event */
  function sendOnEnter(event) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  }

  /** @param {string} [text] @param {Record<string, any>} [changes] */
  async function submit(text = box.value, changes = {}) {
    if (isBusy || !text.trim()) return;
    const began = performance.now();
    busy(true);
    isTyped = Boolean(box.value) && box.value !== text; // a draft of another message
    status.textContent = 'Writing …';
    try {
      const { ids, seed, finish_reason: reason } = await send(text, changes);
      if (!changes.branch) last = { text, seed, after: isTyped ? null : box.value }; // no link makes a branch
      status.textContent = `${reason === 'cancelled' ? 'Stopped after ' : ''}${ids.length} token${ids.length === 1 ? '' : 's'} in ${((performance.now() - began) / 1000).toFixed(1)} s.${ids.length ? ' Click a token to see how it was chosen.' : ''}`;
    } catch (error) {
      status.textContent = /** @type {Error} */ (error).message;
    }
    busy(false);
  }

  /** The page's address with the text in the box, or with the one whose run the page shows and its seed. */
  function address() {
    const { text, seed } = box.value === last.after ? last : { text: box.value, seed: null };
    const here = new URL(location.href);
    here.hash = '';
    const isShort = text.trim() && text.length <= MAX_PROMPT;
    return withParts(here.href, { ...modelParts(), tab: shownTab.latest, prompt: isShort ? text : null, ...(seed !== null && { seed }) });
  }

  /** @param {boolean} is */
  function busy(is) {
    const hadFocus = node.contains(document.activeElement);
    isBusy = is;
    go.hidden = is;
    halt.hidden = !is;
    if (hadFocus) box.focus();
  }

  return { node, box, status, submit };
}
