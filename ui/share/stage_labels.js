/**
 * What the filters are called where there is no settings panel, which knows it.
 */

import { stageLabels } from '../kit/js/text.js';

/** Take the labels from the page's own element. */
export function takeStageLabels() {
  const labels = JSON.parse(document.getElementById('attend-labels').textContent);
  for (const [stage, label] of Object.entries(labels)) stageLabels.set(stage, label);
}
