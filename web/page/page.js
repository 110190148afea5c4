/**
 * The page without a server: a conversation with the model, or a text that it continues, and the inspector beside it. The
 * model runs in a worker of this browser.
 */

/** @import { RunDocument } from '../../decoding/run/document' */

import { start } from '../../ui/inspector/inspector.js';
import { make } from '../../ui/kit/js/dom.js';
import { inspectorValue } from '../../ui/share/inspector_value.js';
import { takeStageLabels } from '../../ui/share/stage_labels.js';
import { followSystemTheme } from '../../ui/share/theme.js';
import { BrowserModel } from '../browser_model.js';
import { makeConversation } from './conversation.js';
import { makeSettings } from './settings.js';

const MODEL = new URL('../../models/attend-chat/', import.meta.url).href;

followSystemTheme();
takeStageLabels();
const model = new BrowserModel();
const settings = makeSettings();
const inspector = makeInspector();
const status = make('p', { class: 'at-quiet', role: 'status', text: 'Loading the model …' });
const conversation = makeConversation({ run, stop: () => model.stop(), show: inspector.show });

document.querySelector('#attend-alone').replaceChildren(
  make('header', {}, make('h1', { text: 'Attend in your browser' }),
    make('p', { class: 'at-quiet', text: 'Chat with a small language model and see how it chooses every token. It runs in this browser, with its weights rounded to 8 bits: what you type goes nowhere.' })),
  make('div', { class: 'at-alone-columns' },
    make('section', { 'aria-label': 'Text' }, settings.node, conversation.node, status),
    inspector.node),
);
model.load(MODEL, (loaded, total) => {
  status.textContent = `Loading the model: ${Math.round((100 * loaded) / total)} % of ${(total / 1e6).toFixed(0)} MB`;
}).then((name) => {
  status.textContent = `${name} is ready.`;
  conversation.enable();
}, ({ message }) => { status.textContent = message; });
if ('serviceWorker' in navigator) navigator.serviceWorker.register('offline.js').catch(() => {}); // the page works without it

/**
 * @param {import('../text/conversation.js').Message[] | string} input
 * @param {(text: string) => void} onText with what is written so far
 * @returns {Promise<RunDocument>}
 */
async function run(input, onText) {
  const started = performance.now();
  status.textContent = 'Writing …';
  try {
    const document = await model.run(input, settings.values(), ({ text }) => onText(text));
    const seconds = (performance.now() - started) / 1000;
    status.textContent = `${document.ids.length} tokens in ${seconds.toFixed(1)} s. Click a token to see how it was chosen.`;
    return document;
  } catch (error) {
    if (error instanceof Error) status.textContent = error.message;
    throw error;
  }
}

/** The inspector, which takes whole runs. */
function makeInspector() {
  const root = make('div', { class: 'attend-inspector at-view' });
  const node = make('section', { 'aria-label': 'Inspector' }, root);
  const props = { beginning: { alone: true }, value: /** @type {any} */ (null) };
  let receive = () => {};
  let count = 0;
  start({ element: node, props, trigger: () => {}, watch: (_, changed) => { receive = changed; } });

  /** @param {RunDocument} document */
  function show(document) {
    props.value = inspectorValue(document, `browser-${count += 1}`);
    receive();
  }

  return { node, show };
}
