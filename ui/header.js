/**
 * The first line. Its event `poll` does nothing but open a stream of replies, where one is missing.
 */

/** @param {import('./kit/js/gradio').Component} component */
export function start({ trigger }) {
  document.addEventListener('attend-poll', () => trigger('poll'));
}
