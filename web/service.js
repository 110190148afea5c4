/**
 * What the worker does: it loads a model and makes runs, one at a time, and listens between two steps, so that Stop takes
 * effect before the next token.
 *
 * @typedef {{kind: 'load', folder: string} | {kind: 'run' | 'check', input: Input, settings: Settings} | {kind: 'stop'}} Order
 * @typedef {{kind: 'progress', loaded: number, total: number} | {kind: 'loaded', name: string} | {kind: 'checked'}
 *   | {kind: 'step', tokens: AnswerToken[]} | {kind: 'done', result: Result} | {kind: 'failed', message: string}} News
 *
 * A run: its document, its tokens as the page draws them, how many messages don't fit into the context, and where an
 * encoder looked.
 * @typedef {{document: RunDocument, tokens: AnswerToken[], dropped: number, encoder: {layers: number, heads: number, rows: string[]} | null}} Result
 */

import { answerTokens } from './decoding/answer_tokens.js';
import { runDocument } from './decoding/run_document.js';
import { downloadModel } from './download.js';
import { Engine } from './engine.js';

/** @typedef {import('./engine.js').Input} Input */
/** @typedef {import('./decoding/branch.js').Branch} Branch */
/** @typedef {import('./decoding/settings.js').Settings} Settings */
/** @typedef {import('../ui/runs/runs_contract').AnswerToken} AnswerToken */
/** @typedef {import('../decoding/run/run_document').RunDocument} RunDocument */
/** A worker's own scope, or a port. @typedef {{postMessage: (news: News) => void, onmessage: (event: MessageEvent<Order>) => void}} Port */

/** @param {string} folder @param {(loaded: number, total: number) => void} onProgress */
async function openEngine(folder, onProgress) {
  const { manifest, files } = await downloadModel(folder, onProgress);
  return Engine.of(manifest, files);
}

/** Answer the orders that arrive at a port. @param {Port} port @param {typeof openEngine} [open] */
export function serve(port, open = openEngine) {
  /** @type {Engine} */
  let engine = null;
  let stopped = false;

  /** @param {string} folder */
  async function load(folder) {
    engine = await open(folder, (loaded, total) => port.postMessage({ kind: 'progress', loaded, total }));
    port.postMessage({ kind: 'loaded', name: engine.manifest.name });
  }

  /** @param {Input} input @param {Settings} settings */
  async function run(input, settings) {
    stopped = false;
    const started = engine.start(input, settings);
    for (const step of engine.steps(started)) {
      if (step) port.postMessage({ kind: 'step', tokens: answerTokens(started) });
      await turn();
      if (stopped) break;
    }
    const { dropped } = started;
    port.postMessage({ kind: 'done', result: { document: runDocument(started), tokens: answerTokens(started), dropped, encoder: engine.encoderHeads } });
  }

  /** Fail as this run would before its first step. @param {Input} input @param {Settings} settings */
  async function check(input, settings) {
    engine.start(input, settings);
    port.postMessage({ kind: 'checked' });
  }

  /** @param {Exclude<Order, {kind: 'stop'}>} order */
  const obey = (order) => (order.kind === 'load' ? load(order.folder) : (order.kind === 'run' ? run : check)(order.input, order.settings))
    .catch((error) => port.postMessage({ kind: 'failed', message: error.message }));

  let last = Promise.resolve(); // the last order, which the next one waits for
  port.onmessage = ({ data: order }) => {
    if (order.kind === 'stop') stopped = true;
    else last = last.then(() => obey(order));
  };
}

/** Let other messages arrive; a timer would wait for 4 ms. */
function turn() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => { port1.close(); resolve(undefined); };
    port2.postMessage(null);
  });
}
