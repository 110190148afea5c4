/**
 * The tour: a bubble that points at one thing after another in the tab that is in sight. It lies over the page and leaves all
 * of it usable. It ends after its last step, when it is skipped, or when the visitor starts to use the page.
 */

import { isExample } from '../examples/example.js';
import { around, make, makeButton } from '../kit/js/dom.js';
import { shownTab, inspectedToken } from '../kit/js/signals.js';
import { remember } from '../kit/js/storage.js';
import { EDGE, place } from '../kit/overlay/place.js';
import { STEPS, WANTED } from './steps.js';

let end = () => {}; // ends the current tour

/** Whether the first step has something to point at. */
export const canBegin = () => !document.querySelector('dialog[open]') && Boolean(inSight(STEPS[0].targets));

/** @param {{isRequested: boolean}} how if the visitor asked for the tour, it takes the focus */
export function begin({ isRequested }) {
  end();
  remember('tour', 'seen');
  const tab = shownTab.latest;
  const before = /** @type {HTMLElement} */ (document.activeElement);
  let number = -1; // of the step, from 0
  /** @type {HTMLElement | undefined} */
  let target;

  const ring = make('div', { class: 'at-tour-ring' });
  const title = make('h2', { id: 'at-tour-title' });
  const text = make('p', { id: 'at-tour-text' });
  const count = make('span', { class: 'at-grow at-sm at-quiet' });
  const skip = makeButton('Skip', () => end());
  const back = makeButton('Back', () => go(previous()));
  const next = makeButton('Next', () => go(following()), { class: 'at-primary' });
  const bubble = make('section', {
    class: 'at-tour-bubble at-panel at-stack at-bubble-card', role: 'dialog', 'aria-labelledby': title.id, 'aria-describedby': text.id,
    onmousedown: (event) => event.preventDefault(), // a click leaves the focus where it is
  }, make('div', { 'aria-live': 'polite' }, title, text), make('div', { class: 'at-row at-gap-sm at-tour-buttons' }, count, skip, back, next));
  const layer = make('div', { class: 'at-tour at-view', popover: 'manual' }, ring, bubble);
  const resized = new ResizeObserver(draw);
  const listeners = new AbortController();

  const following = () => STEPS.findIndex((step, index) => index > number && inSight(step.targets));
  const previous = () => STEPS.findLastIndex((step, index) => index < number && inSight(step.targets));

  end = () => {
    end = () => {};
    const hasFocus = layer.contains(document.activeElement);
    listeners.abort();
    resized.disconnect();
    layer.remove();
    if (hasFocus) (target?.matches('textarea') ? target : target?.querySelector('textarea') ?? before).focus();
  };
  document.body.append(layer);
  layer.showPopover();
  listen('scroll', draw);
  listen('resize', draw);
  listen('transitionend', draw); // the settings slide in and out
  listen('input', (event) => event.isTrusted && around(event, 'textarea') && end()); // not a link's prompt
  listen('click', (event) => number === 0 && around(event, '.at-tok') && go(following())); // as its text says
  document.body.addEventListener('keydown', press, { signal: listeners.signal }); // before the page's own Escape
  shownTab.subscribe(layer, (inSightNow) => inSightNow === tab || end());
  // A tour may begin while a text grows, but ends when another one begins. A short text may arrive at once, and never be busy.
  let { busy: wasBusy = false, run: last = null } = inspectedToken.latest ?? {};
  inspectedToken.subscribe(layer, ({ busy, run }) => {
    if ((busy && !wasBusy) || (isExample(last) && !isExample(run))) end();
    else requestAnimationFrame(draw);
    [wasBusy, last] = [busy, run];
  });
  go(following());
  if (isRequested) next.focus({ preventScroll: true });

  /** Listen to events anywhere on the page. @param {string} type @param {(event: Event) => void} handler */
  function listen(type, handler) {
    addEventListener(type, handler, { capture: true, passive: true, signal: listeners.signal });
  }

  /** @param {number} step to show; -1 ends the tour */
  function go(step) {
    if (step < 0) return end();
    number = step;
    title.textContent = STEPS[number].title;
    text.textContent = STEPS[number].text;
    count.textContent = `${number + 1} of ${STEPS.length}`;
    back.disabled = previous() < 0;
    next.textContent = following() < 0 ? 'Done' : 'Next';
    draw();
    scrollToTarget();
  }

  function scrollToTarget() {
    const { top, bottom } = target.getBoundingClientRect();
    if (top >= 0 && bottom <= window.innerHeight && placed().side !== 'over') return;
    target.scrollIntoView({ block: 'start' });
    window.scrollBy(0, -EDGE);
    if (placed().side !== 'over') return;
    target.scrollIntoView({ block: 'end' }); // near the page's end it can't come to the top
    window.scrollBy(0, EDGE);
  }

  function placed() {
    const view = { width: document.documentElement.clientWidth, height: window.innerHeight };
    const wanted = [...document.querySelectorAll(STEPS[number].wanted ?? WANTED)].filter((node) => !node.contains(target));
    return place(target.getBoundingClientRect(), { width: bubble.offsetWidth, height: bubble.offsetHeight }, view,
      wanted.map((node) => node.getBoundingClientRect()));
  }

  function draw() {
    if (!layer.isConnected) return;
    const visible = inSight(STEPS[number].targets);
    if (!visible) return end();
    if (visible !== target) {
      resized.disconnect();
      resized.observe(visible);
      target = visible;
    }
    const { left, top, width, height } = target.getBoundingClientRect();
    const { side, x, y } = placed();
    bubble.dataset.side = side;
    bubble.style.transform = `translate(${x}px, ${y}px)`; // which shifts no layout
    Object.assign(ring.style, { transform: `translate(${left}px, ${top}px)`, width: `${width}px`, height: `${height}px` });
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.defaultPrevented || document.querySelector('dialog[open], [popover="auto"]:popover-open')) return;
    const isFree = event.target === document.body || around(event, '.at-tour')
      || (event.target instanceof HTMLTextAreaElement && !event.target.value); // where the arrows would do nothing
    if (event.key === 'Escape') end();
    else if (isFree && event.key === 'ArrowRight' && following() >= 0) go(following());
    else if (isFree && event.key === 'ArrowLeft' && previous() >= 0) go(previous());
    else return;
    event.preventDefault(); // it stops nothing else
  }
}

/** @param {string[]} targets selectors @returns {HTMLElement | undefined} */
function inSight(targets) {
  const findLast = (selector) => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector))].findLast(isInSight);
  return targets.map(findLast).find(Boolean);
}

/** Whether scrolling the page can bring it into view: closed settings stand beside the window. @param {HTMLElement} node */
function isInSight(node) {
  const { left, right, height } = node.getBoundingClientRect();
  return node.checkVisibility({ visibilityProperty: true }) && height > 0 && left >= 0 && right <= window.innerWidth + 1;
}
