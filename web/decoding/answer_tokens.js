/**
 * The tokens of a run's best text as the page draws them: each with its probability and what it adds to the text.
 */

import { beforeStop } from './request.js';
import { entriesOf } from './run_document.js';

/** @typedef {import('../../ui/runs/runs_contract').AnswerToken} AnswerToken */

/** @param {import('./run_document.js').Run} run so far @returns {AnswerToken[]} a stop text and what follows it are not shown */
export function answerTokens(run) {
  const { request, settings, label } = run, entries = entriesOf(run), ids = entries.map(({ id }) => id);
  let room = beforeStop(request.decode(ids), settings.stop_texts).length;
  const texts = request.texts(ids).map((text) => {
    const part = text.slice(0, Math.max(0, room));
    room -= text.length;
    return part;
  });
  return entries.map((entry, place) => ({
    text: texts[place],
    probability: entry.candidates.find(({ id }) => id === entry.id).probabilities[0],
    ...(!texts[place] && { label: label(entry.id) }),
  }));
}
