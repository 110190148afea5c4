import assert from 'node:assert/strict';
import test from 'node:test';

import { BrowserModel } from '../../../web/browser_model.js';
import { serve } from '../../../web/service.js';

const ENTRY = { id: 7, rank: 1, draw: null, stages: ['model'], kept: [9], mass: [1], entropy: [1], candidates: [{ id: 7, probabilities: [1] }], rest: [0] };

/** An engine that repeats one token; without `length`, for ever. @param {number} [length] */
const fakeEngine = (length = Infinity) => ({
  manifest: { name: 'fake' },
  encoderHeads: null,
  start(prompt, settings) {
    if (!prompt) throw new Error('The prompt is empty.');
    const request = { prompt: [1], source: [], drawsUsed: 0, decode: (ids) => 'a'.repeat(ids.length), texts: (ids) => ids.map(() => 'a') };
    return { model: 'fake', prompt, request, prefix: { steps: [], rows: [] }, settings: { strategy: 'greedy', stop_texts: [], ...settings }, steps: [], label: String, special: new Set(), dropped: 2, shape: { layers: 1, heads: 1 } };
  },
  *steps(run) {
    yield null;
    for (let count = 1; count <= length; count++) {
      const choice = { entry: ENTRY, attention: new Float32Array([1]) };
      const best = { tokens: Array(count).fill(7), parent: 0, choice, finishReason: count === length ? 'length' : null };
      run.steps.push({ hypotheses: [best], best, returned: count === length ? [best] : [], dropped: [] });
      yield run.steps.at(-1);
    }
  },
});

/** A model in a worker, of which the two ends of a channel take the place. @param {{after: (close: () => void) => void}} t @param {any} engine */
function connect(t, engine) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close()); // also if the test fails: an open port keeps the process alive
  serve(/** @type {any} */ (port1), async (folder, onProgress) => {
    onProgress(5, 10);
    return engine;
  });
  return new BrowserModel(/** @type {any} */ (port2));
}

test('a run arrives step by step and then as a document', async (t) => {
  const model = connect(t, fakeEngine(3)), progress = [], texts = [];
  assert.equal(await model.load('folder/', (...numbers) => progress.push(numbers)), 'fake');
  const { document, tokens, dropped } = await model.run('b', {}, (written) => texts.push(written.map(({ text }) => text)));
  assert.deepEqual(progress, [[5, 10]]);
  assert.deepEqual(texts, [['a'], ['a', 'a'], ['a', 'a', 'a']]);
  assert.deepEqual([tokens.at(-1), dropped], [{ text: 'a', probability: 1 }, 2]);
  assert.deepEqual([document.text, document.finish_reason, document.steps.length], ['aaa', 'length', 3]);
});

test('Stop ends a run before its next token, and the run so far is a document', async (t) => {
  const model = connect(t, fakeEngine());
  await model.load('folder/');
  let steps = 0;
  const { document } = await model.run('b', {}, () => { if (++steps === 3) model.stop(); });
  assert.ok(document.ids.length >= 3 && document.ids.length < 10);
  assert.equal(document.finish_reason, 'cancelled');
});

test('what a run would refuse is said without a run', async (t) => {
  const model = connect(t, fakeEngine(1));
  await model.load('folder/');
  assert.equal(await model.check('').catch((error) => error.message), 'The prompt is empty.');
  assert.equal(await model.check('b'), undefined);
  assert.equal((await model.run('b')).document.text, 'a');
});

test('what went wrong is said, and the next run works', async (t) => {
  const model = connect(t, fakeEngine(1));
  await model.load('folder/');
  assert.equal(await model.run('').catch((error) => error.message), 'The prompt is empty.');
  assert.equal((await model.run('b')).document.text, 'a');
});

test('a worker whose script fails ends the wait', async () => {
  const worker = /** @type {any} */ ({ postMessage: () => queueMicrotask(() => worker.onerror()) });
  assert.match(await new BrowserModel(worker).load('folder/').catch((error) => error.message), /can’t run here/);
});
