/**
 * Events whose replies Gradio's client would never read.
 *
 * It reads the replies to all events from one stream, which the server closes when no event is pending. An event sent before
 * the client notices the close gets no reader: its replies wait until another event opens a stream. So when a stream closes
 * that an event had joined, an empty event is sent.
 */

/**
 * A `fetch` that watches the stream and the events.
 * @param {typeof fetch} ask the browser's own
 * @param {() => void} nudge sends an event, which opens a new stream; it is not called again for that stream
 * @returns {typeof fetch}
 */
export function reopenStream(ask, nudge) {
  /** @type {{joined: boolean} | null} the open stream, and whether an event has joined it */
  let stream = null;
  let isNudge = false;

  return async (resource, options) => {
    const address = resource instanceof Request ? resource.url : String(resource);
    const joins = address.includes('/queue/join');
    const nudging = joins && isNudge;
    if (joins) isNudge = false;
    if (address.includes('/queue/data?')) {
      const opened = { joined: false };
      const signal = resource instanceof Request ? resource.signal : options?.signal;
      signal?.addEventListener('abort', () => {
        if (stream === opened) stream = null;
        if (!opened.joined) return;
        isNudge = true;
        nudge();
      });
      stream = opened;
    }
    const response = await ask(resource, options);
    if (joins && !nudging && stream) stream.joined = true;
    return response;
  };
}
