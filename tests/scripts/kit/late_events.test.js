import assert from 'node:assert/strict';
import test from 'node:test';

import { reopenStream } from '../../../ui/kit/gradio/late_events.js';

const HOST = 'http://127.0.0.1/gradio_api/queue';

/** A page whose nudges are counted, each an event of its own as on the real one. */
function page() {
  const seen = { nudges: 0 };
  const fetch = reopenStream(async () => new Response(''), () => {
    seen.nudges += 1;
    fetch(`${HOST}/join?`);
  });
  /** @returns {AbortController} what ends the stream */
  const open = () => {
    const ending = new AbortController();
    fetch(new Request(`${HOST}/data?session_hash=x`, { signal: ending.signal }));
    return ending;
  };
  return { seen, open, join: () => fetch(`${HOST}/join?`) };
}

test('an event that opened its stream is heard', async () => {
  const { seen, open, join } = page();
  await join();
  open().abort();
  assert.equal(seen.nudges, 0);
});

test('after an event that joined an open stream, its end is asked about once', async () => {
  const { seen, open, join } = page();
  const first = open();
  await join();
  first.abort();
  assert.equal(seen.nudges, 1);
  const second = open(); // that of the nudge
  second.abort();
  assert.equal(seen.nudges, 1);
});

test('an older stream that ends late says nothing of the new one', async () => {
  const { seen, open, join } = page();
  const first = open();
  const second = open();
  await join();
  first.abort();
  assert.equal(seen.nudges, 0);
  second.abort();
  assert.equal(seen.nudges, 1);
});
