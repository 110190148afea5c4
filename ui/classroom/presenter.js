/**
 * The page in large type, one panel at a time: the arrow keys walk through the tokens and the panels, and Escape leaves it.
 *
 * `data-panel` of the body names the panel in sight for the styles.
 */

import { around, make, makeButton } from '../kit/js/dom.js';
import { onPlane, plainKey } from '../kit/js/keys.js';
import { inspectedToken, selectToken, shownTab } from '../kit/js/signals.js';

/** The panels in their order: whatever holds them must have something to show. */
const PANELS = {
  text: { title: 'Text', holder: '#attend-left' },
  token: { title: 'Token', holder: '.at-step-pane' },
  attention: { title: 'Attention', holder: '.at-map-pane' },
  guesses: { title: 'Guesses', holder: '.at-guesses' },
};
const FIELDS = 'input, select, textarea, [contenteditable]';

const panels = () => Object.keys(PANELS).filter((panel) => panel === 'text'
  || (shownTab.latest !== 'Learn' && document.querySelector(PANELS[panel].holder)?.firstChild));

/** Begin in the panel with the text. */
export function present() {
  if (document.body.dataset.panel) return;
  const leaving = new AbortController();
  const title = make('span', { class: 'at-quiet', role: 'status' });
  const bar = make('nav', { class: 'at-view at-row at-wrap at-md at-presenter', 'aria-label': 'Presentation' },
    makeButton('Previous panel', () => move(-1), { title: 'Arrow up' }), title, makeButton('Next panel', () => move(1), { title: 'Arrow down' }),
    make('span', { class: 'at-quiet at-end at-keys-note', text: '← → tokens · ↑ ↓ panels' }), makeButton('Leave', leave, { title: 'Escape' }));
  document.body.append(bar);
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  document.addEventListener('keydown', walk, { signal: leaving.signal });
  document.addEventListener('keydown', (event) => {
    if (plainKey(event) !== 'Escape' || document.querySelector('dialog[open], :popover-open')) return;
    event.preventDefault(); // it stops nothing else
    leave();
  }, { capture: true, signal: leaving.signal });
  shownTab.subscribe(bar, () => show('text'));

  /** @param {string} panel */
  function show(panel) {
    document.body.dataset.panel = panel;
    title.textContent = PANELS[panel].title;
  }

  /** @param {number} by */
  function move(by) {
    const offered = panels();
    const here = offered.indexOf(document.body.dataset.panel);
    show(offered[Math.min(offered.length - 1, Math.max(0, here + by))]);
  }

  /** @param {KeyboardEvent} event */
  function walk(event) {
    const delta = onPlane(plainKey(event));
    if (!delta || event.defaultPrevented || around(event, FIELDS) || document.querySelector('dialog[open]')) return;
    const [right, down] = delta;
    if (down && panels().length === 1) return; // it scrolls
    event.preventDefault();
    if (down) return move(down);
    const { run, index } = inspectedToken.latest ?? {};
    if (run) selectToken(run, Math.max(0, (index ?? -1) + right));
  }

  function leave() {
    leaving.abort();
    bar.remove();
    delete document.body.dataset.panel;
  }
}
