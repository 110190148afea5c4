/**
 * Runs once when the page has loaded: the header's buttons, the settings if there is room for them, what Escape
 * closes or stops, notices, typing, and the link past all buttons to the text box.
 */

import { isTermName, offerGlossary } from '../glossary/glossary.js';
import { MAX_PROMPT, onceConnected, removeOnceWorking, takePart, whenMoved } from '../kit/address/address.js';
import { cloneObjectsOnly } from '../kit/gradio/clone.js';
import { around, make, typeInto } from '../kit/js/dom.js';
import { takeDecimalCommas } from '../kit/js/number.js';
import { reopenStream } from '../kit/gradio/late_events.js';
import { remember, remembered } from '../kit/js/storage.js';
import { isStyled } from '../kit/js/styles.js';
import { CHAPTERS } from '../learn/course.js';
import { hasCourse, openChapter } from '../learn/open_chapter.js';
import { offerTour } from '../tour/offer.js';
import { watchConnection } from './connection.js';
import { keepUnsent } from './unsent.js';

const DRAWN = ['conversation', 'translation', 'inspector'].map((name) => `.attend-${name}`).join(); // in sight at first
const BOXES = ['#attend-message textarea', '#attend-text textarea', '#attend-given textarea', '.at-ask-text'].join();
const SUBMITTED = [['#attend-given textarea', '#attend-go'], ['#attend-text textarea', '#attend-continue']];
const PATIENCE = 20_000; // ms after which the page is shown even if parts of it are missing

export function start() {
  const STOPS = '#attend-stop, #attend-halt, #attend-translate-stop, #attend-compare .at-stop';
  const all = (selector) => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector))];
  const find = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector));
  if (document.activeElement === document.body) find('textarea[autofocus]')?.focus(); // it was not in sight until now
  if (!find('#attend-settings')) find('#attend-open-settings')?.remove(); // the page of an encoder has none
  const toggleSettings = () => find('#attend-settings .toggle-button')?.click();
  find('#attend-open-settings')?.addEventListener('click', toggleSettings);
  find('#attend-api')?.addEventListener('click', () => find('footer .show-api')?.click());
  const theme = remembered('theme', '');
  if (theme && !new URLSearchParams(location.search).has('__theme')) document.body.classList.toggle('dark', theme === 'dark');
  find('#attend-theme')?.addEventListener('click', () => {
    remember('theme', document.body.classList.toggle('dark') ? 'dark' : 'light');
  });
  const narrow = window.matchMedia('(max-width: 1000px)'); // the settings cover the page
  const areOpen = () => Boolean(find('#attend-settings.open'));
  const small = window.matchMedia('(max-width: 1200px)'); // they leave no room for the table beside its map
  const uncover = () => narrow.matches && areOpen() && toggleSettings();
  narrow.addEventListener('change', uncover);
  whenMoved(uncover);

  window.structuredClone = cloneObjectsOnly(window.structuredClone.bind(window));

  // Gradio's panel of endpoints asks for these two, which this page does not have; each would be an error in the console.
  const ask = reopenStream(watchConnection(window.fetch.bind(window)), () => document.dispatchEvent(new Event('attend-poll')));
  const absent = /\/(gradio_api\/mcp\/schema|monitoring\/summary)$/;
  window.fetch = (resource, ...rest) => {
    const isAbsent = absent.test(resource instanceof Request ? resource.url : String(resource));
    return isAbsent ? Promise.resolve(new Response(null, { status: 404 })) : ask(resource, ...rest);
  };

  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    const panel = find('.api-docs');
    if (panel) all('.api-docs .backdrop').forEach((backdrop) => backdrop.click());
    else if (find('dialog[open], [popover="auto"]:popover-open')) return; // the browser closes it
    else if (narrow.matches && areOpen()) {
      toggleSettings();
      find('#attend-open-settings').focus();
    } else all(STOPS).find((button) => button.checkVisibility())?.click();
  });

  // Gradio's text box submits with Enter alone, or not at all; boxes for longer texts are expected to with Ctrl+Enter.
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    const [, button] = SUBMITTED.find(([box]) => around(event, box)) ?? [];
    const go = button && find(button);
    if (go && go.checkVisibility()) go.click();
  });

  const skip = make('a', { class: 'at-skip', href: '#attend-main', text: 'Skip to the text box', onclick: (event) => {
    event.preventDefault(); // the address stays as it is
    all(BOXES).find((box) => box.checkVisibility())?.focus();
  } });
  document.body.prepend(skip);

  // A notice is about the last action, so the next action removes it.
  const dismiss = (event) => {
    if (!around(event, '.toast-wrap')) all('.toast-close').forEach((cross) => cross.click());
  };
  document.addEventListener('click', dismiss, true);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') dismiss(event);
  }, true);

  // Gradio's text box reports typing at `keypress`, which pasting, deleting and phones' keyboards do not send.
  let pressed = false;
  const isText = (event) => Boolean(around(event, '#attend-text textarea'));
  document.addEventListener('keypress', (event) => {
    if (isText(event) && event.isTrusted) pressed = true;
  }, true);
  document.addEventListener('input', (event) => {
    if (isText(event) && !pressed) event.target.dispatchEvent(new KeyboardEvent('keypress', { bubbles: true }));
    pressed = false;
  });

  const prompt = takePart('prompt', (text) => text.length <= MAX_PROMPT);
  if (prompt) onceConnected(bringPrompt);
  takeDecimalCommas();
  keepUnsent(() => document.querySelector('#attend-message textarea'));
  const term = takePart('glossary', isTermName);
  document.body.toggleAttribute('data-started', true); // from now on events may be sent: their replies will be received
  show();

  /** A link's prompt goes into the box of the tab in sight, and leaves the address once the visitor is at work with it. */
  function bringPrompt() {
    const box = /** @type {HTMLTextAreaElement | undefined} */ (all(BOXES).find((each) => each.checkVisibility()));
    if (!box) return;
    typeInto(box, prompt);
    removeOnceWorking('prompt');
  }

  /**
   * The sidebar may come after this script, on a busy machine, and hears of no click before it is whole; what is drawn into
   * an empty view would move all that stands under it.
   */
  function show() {
    const isRestoring = find('.attend-history:empty') || document.body.hasAttribute('data-restoring'); // ui/history/history.js
    const isAwaited = !isStyled() || isRestoring || all(DRAWN).some((view) => view.checkVisibility() && !view.firstChild);
    if (small.matches && areOpen()) {
      toggleSettings();
      requestAnimationFrame(() => requestAnimationFrame(show)); // a frame in which it is closed, before it is seen
    } else if (isAwaited && performance.now() < PATIENCE) requestAnimationFrame(show);
    else {
      document.body.toggleAttribute('data-ready', true); // for tests and benchmarks: from now on no input is lost
      offerTour();
      offerGlossary({ titles: CHAPTERS, isOffered: hasCourse, open: openChapter }, term);
    }
  }
}
