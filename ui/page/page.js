/**
 * Runs once when the page has loaded. It wires what belongs to no component: the header's buttons, Escape, Ctrl+Enter,
 * Gradio's notices, and what a link brings. Then it shows the page.
 */

import { enterClass } from '../classroom/classroom.js';
import { isTermName, offerGlossary } from '../glossary/glossary.js';
import { MAX_PROMPT, removeOnceWorking, takePart, whenMoved } from '../kit/address/address.js';
import { mayChangeText } from '../kit/address/class_part.js';
import { cloneObjectsOnly } from '../kit/gradio/clone.js';
import { reopenStream } from '../kit/gradio/late_events.js';
import { around, findVisible, typeInto } from '../kit/js/dom.js';
import { plainKey } from '../kit/js/keys.js';
import { takeDecimalCommas } from '../kit/js/number.js';
import { connected, streamMissing, writtenText } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';
import { isStyled } from '../kit/js/styles.js';
import { addSkipLink } from '../kit/parts/skip_link.js';
import { CHAPTERS } from '../learn/course.js';
import { hasCourse, openChapter } from '../learn/open_chapter.js';
import { offerTour } from '../tour/offer.js';
import { followWriting } from '../write/box.js';
import { explainEnd } from '../write/ended.js';
import { watchConnection } from './connection.js';
import { keepUnsent } from './unsent.js';

const SMALL = window.matchMedia('(max-width: 1200px)'); // the settings cover the page, as ui/settings/gradio.css says
const VIEWS = ['conversation', 'translation', 'inspector'].map((name) => `.attend-${name}`).join(); // in sight at first
const BOXES = '#attend-message textarea, #attend-text textarea, #attend-given textarea, .at-ask-text';
const STOP_BUTTONS = '#attend-stop, #attend-halt, #attend-translate-stop, #attend-compare .at-stop, #attend-scores .at-stop';
const SUBMIT_BUTTONS = { '#attend-given textarea': '#attend-go', '#attend-text textarea': '#attend-continue' };
const ABSENT = /\/(gradio_api\/mcp\/schema|monitoring\/summary)$/;
const PATIENCE = 20_000; // ms after which the page is shown even if parts of it are missing

/** @param {string} selector */
const find = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector));

/** @param {string} selector */
const findAll = (selector) => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector))];

const areSettingsOpen = () => Boolean(find('#attend-settings.open'));
const doSettingsCover = () => SMALL.matches && areSettingsOpen();
const toggleSettings = () => find('#attend-settings .toggle-button')?.click();
let closedForRoom = false; // whether the settings were closed for want of room, so that a wide window opens them again

/** @param {boolean} isForRoom */
function closeSettings(isForRoom) {
  toggleSettings();
  closedForRoom = isForRoom;
}

export function start() {
  if (document.activeElement === document.body) find('textarea[autofocus]')?.focus(); // it was hidden until now
  wireHeader();
  adaptGradio();
  document.addEventListener('keydown', closeOrStop);
  document.addEventListener('keydown', submit);
  document.addEventListener('keydown', stayInSettings);
  dismissNotices();
  reportTyping();
  writtenText.subscribe(null, (text) => document.body.toggleAttribute('data-written', Boolean(text)));
  takeDecimalCommas();
  addSkipLink(`${BOXES}, #attend-read-text textarea, .at-lesson-body h2`);
  const classroom = enterClass({ hasServer: true, hasTexts: Boolean(find('#attend-main')) }); // the page of an encoder has none
  if (!mayChangeText()) for (const box of findAll(BOXES)) box.toggleAttribute('readonly', true);
  const prompt = takePart('prompt', (text) => text.length <= MAX_PROMPT);
  if (prompt) connected.subscribe(null, () => bringPrompt(prompt));
  const text = find('#attend-text textarea');
  if (text instanceof HTMLTextAreaElement) {
    followWriting(text);
    explainEnd(text);
  }
  keepUnsent(() => document.querySelector('#attend-message textarea'));
  const term = takePart('glossary', isTermName);
  document.body.toggleAttribute('data-started', true); // from now on events may be sent: their replies will be received
  show(term, classroom);
}

function wireHeader() {
  if (!find('#attend-settings')) find('#attend-open-settings')?.remove(); // the page of an encoder has none
  find('#attend-open-settings')?.addEventListener('click', () => {
    toggleSettings();
    requestAnimationFrame(() => doSettingsCover() && find('#attend-settings .toggle-button').focus({ preventScroll: true }));
  });
  find('#attend-api')?.addEventListener('click', () => find('footer .show-api')?.click());
  const theme = remembered('theme', '');
  if (theme && !new URLSearchParams(location.search).has('__theme')) document.body.classList.toggle('dark', theme === 'dark');
  find('#attend-theme')?.addEventListener('click', () => {
    remember('theme', document.body.classList.toggle('dark') ? 'dark' : 'light');
  });
  document.addEventListener('click', (event) => {
    if (!around(event, '#attend-settings .toggle-button')) return;
    closedForRoom = doSettingsCover();
    if (event.isTrusted) find('#attend-open-settings').focus({ preventScroll: true }); // the visitor closes them, which hides this button
  }, true);
  const uncover = () => doSettingsCover() && closeSettings(true);
  SMALL.addEventListener('change', () => (SMALL.matches ? uncover() : closedForRoom && toggleSettings()));
  whenMoved(uncover);
}

/** Wraps two functions of the browser: Gradio offers no other way to change how it copies values and asks its server. */
function adaptGradio() {
  window.structuredClone = cloneObjectsOnly(window.structuredClone.bind(window));
  const ask = reopenStream(watchConnection(window.fetch.bind(window)), () => streamMissing.publish(null));
  window.fetch = (resource, ...rest) => {
    // Gradio's panel of endpoints asks for what this page does not have; each request would be an error in the console.
    const isAbsent = ABSENT.test(resource instanceof Request ? resource.url : String(resource));
    return isAbsent ? Promise.resolve(new Response(null, { status: 404 })) : ask(resource, ...rest);
  };
}

/** Escape closes what covers the page or else stops the run. @param {KeyboardEvent} event */
function closeOrStop(event) {
  if (plainKey(event) !== 'Escape' || event.defaultPrevented) return;
  if (find('.api-docs')) findAll('.api-docs .backdrop').forEach((backdrop) => backdrop.click());
  else if (find('dialog[open], [popover="auto"]:popover-open')) return; // the browser closes it
  else if (doSettingsCover()) {
    toggleSettings();
    find('#attend-open-settings').focus({ preventScroll: true });
  } else findVisible(STOP_BUTTONS)?.click();
}

/** While the settings cover the page, Tab goes round among them. @param {KeyboardEvent} event */
function stayInSettings(event) {
  if (event.key !== 'Tab' || !doSettingsCover() || find('dialog[open]')) return;
  const stops = findAll('#attend-settings :is(button, input, select, textarea, summary, a, [tabindex])')
    .filter((stop) => stop.tabIndex >= 0 && !stop.matches(':disabled') && stop.checkVisibility({ visibilityProperty: true }));
  const [from, to] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
  if (document.activeElement !== from) return;
  event.preventDefault();
  to.focus();
}

/** Gradio's text box submits by Enter or not at all; for longer texts people expect Ctrl+Enter. @param {KeyboardEvent} event */
function submit(event) {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  const box = Object.keys(SUBMIT_BUTTONS).find((selector) => around(event, selector));
  if (box) findVisible(SUBMIT_BUTTONS[box])?.click();
}

/** A notice is about the last action, so the next action removes it. */
function dismissNotices() {
  const dismiss = (event) => {
    if (!around(event, '.toast-wrap')) findAll('.toast-close').forEach((cross) => cross.click());
  };
  document.addEventListener('click', dismiss, true);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') dismiss(event);
  }, true);
}

/** Gradio's text box reports typing at `keypress`, which pasting, deleting and phones' keyboards do not send. */
function reportTyping() {
  let wasPressed = false;
  const isText = (event) => Boolean(around(event, '#attend-text textarea'));
  document.addEventListener('keypress', (event) => {
    if (isText(event) && event.isTrusted) wasPressed = true;
  }, true);
  document.addEventListener('input', (event) => {
    if (isText(event) && !wasPressed) event.target.dispatchEvent(new KeyboardEvent('keypress', { bubbles: true }));
    wasPressed = false;
  });
}

/** Put a link's prompt into the box of the tab in sight. @param {string} prompt */
function bringPrompt(prompt) {
  const box = findVisible(BOXES);
  if (!(box instanceof HTMLTextAreaElement)) return;
  typeInto(box, prompt);
  removeOnceWorking('prompt');
}

/**
 * Show the page once it is complete: what is drawn later would move everything below it. On a busy machine the sidebar may come
 * after this script, and it hears no click before it is complete.
 * @param {string | null} term of the glossary that the address names
 * @param {import('../kit/address/class_part.js').Classroom | null} classroom
 */
function show(term, classroom) {
  const isRestoring = find('.attend-history:empty') || document.body.hasAttribute('data-restoring'); // ui/history/history.js
  const isAwaited = !isStyled() || isRestoring || findAll(VIEWS).some((view) => view.checkVisibility() && !view.firstChild);
  const showLater = () => requestAnimationFrame(() => show(term, classroom));
  const areOffered = classroom?.words.includes('settings') ?? true;
  if ((SMALL.matches || !areOffered) && areSettingsOpen()) {
    closeSettings(areOffered);
    requestAnimationFrame(showLater); // a frame in which they are closed, before the page is seen
  } else if (isAwaited && performance.now() < PATIENCE) showLater();
  else {
    document.body.toggleAttribute('data-ready', true); // for tests and benchmarks: from now on no input is lost
    if (!classroom) offerTour();
    offerGlossary({ titles: CHAPTERS, isOffered: hasCourse, open: openChapter }, term);
  }
}
