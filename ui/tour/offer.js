/**
 * Starts the tour: on request, and once for a new visitor when Chat shows its example. It never changes the tab: what a link
 * opens stays.
 */

import { isExample, modeOf } from '../examples/example.js';
import { shownTab, inspectedToken } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';

const fetchTour = () => import('./tour.js');
const isSeen = () => remembered('tour', '') === 'seen';

/** Whether the tab in sight shows what the tour is about. */
export const canTakeTour = () => Boolean(document.querySelector('.attend-inspector')?.checkVisibility());

/** Begin the tour in the tab in sight. */
export async function takeTour() {
  const { begin } = await fetchTour();
  begin({ isRequested: true });
}

/** Let the tour begin by itself if it has not been seen. */
export function offerTour() {
  if (isSeen()) return;
  let isExampleShown = false;
  let frame = 0;
  const isWanted = () => isExampleShown && shownTab.latest === 'Chat' && !isSeen();
  shownTab.subscribe(null, beginOnceDrawn);
  inspectedToken.subscribe(null, ({ run }) => {
    isExampleShown = isExample(run) && modeOf(run) === 'chat';
    beginOnceDrawn();
  });

  async function beginOnceDrawn() {
    if (!isWanted()) return;
    const { begin, canBegin } = await fetchTour();
    if (!isWanted()) return; // the visitor has moved on meanwhile
    cancelAnimationFrame(frame);
    if (!canBegin()) {
      frame = requestAnimationFrame(beginOnceDrawn);
      return;
    }
    remember('tour', 'seen');
    if (isSeen()) begin({ isRequested: false }); // a browser that remembers nothing would begin it at every visit
  }
}
