/**
 * Starts the tour: on request, and once for a new visitor when Chat shows its example.
 */

import { isExample, modeOf } from '../examples/example.js';
import { shownToken } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';

const fetchTour = () => import('./tour.js');
const isSeen = () => remembered('tour', '') === 'seen';

/** Take it from its beginning. */
export async function takeTour() {
  const { begin } = await fetchTour();
  begin({ isRequested: true });
}

/** Let it begin by itself where it has not been seen. */
export function offerTour() {
  if (isSeen()) return;
  shownToken.subscribe(null, async ({ run }) => {
    if (!isExample(run) || modeOf(run) !== 'chat' || isSeen()) return;
    remember('tour', 'seen');
    if (!isSeen()) return; // a browser that remembers nothing would begin it at every visit
    const { begin, canBegin } = await fetchTour();
    const beginOnceDrawn = () => (canBegin() ? begin({ isRequested: false }) : requestAnimationFrame(beginOnceDrawn));
    beginOnceDrawn();
  });
}
