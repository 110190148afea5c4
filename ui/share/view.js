/**
 * The page of a shared file: what was asked, what the model wrote, and the inspector with all that explains it.
 */

/** @import { RunDocument } from '../../decoding/run/document' */

import { start } from '../inspector/inspector.js';
import { make } from '../kit/js/dom.js';
import { inspectorValue } from './inspector_value.js';
import { makeSettings } from './settings.js';
import { takeStageLabels } from './stage_labels.js';
import { followSystemTheme } from './theme.js';

/** @param {string} json the run document of the file, which anyone may have changed */
export function show(json) {
  followSystemTheme();
  takeStageLabels();
  const root = document.querySelector('#attend-shared');
  try {
    draw(root, JSON.parse(json));
  } catch (error) {
    console.error(error);
    root.replaceChildren(make('p', { role: 'alert', text: 'This file was changed or cut off, so its run can’t be shown: ask for it again.' }));
  }
}

/** @param {Element} root @param {RunDocument} run */
function draw(root, run) {
  const inspector = make('div', {}, make('div', { class: 'attend-inspector at-view' }));
  document.title = `${run.model}: ${run.prompt.text.slice(0, 60)}`;
  root.replaceChildren(makeHeader(run), inspector, makeFooter());
  const value = inspectorValue(run, 'shared');
  start({ element: inspector, props: { value, beginning: { alone: true } }, trigger: () => {}, watch: () => {} });
}

/** @param {RunDocument} run */
function makeHeader(run) {
  const messages = run.prompt.messages ?? [{ role: 'prompt', content: run.prompt.text }];
  const said = messages.map(({ role, content }) => makePart(role, content));
  return make('header', { class: 'at-shared-head' },
    make('h1', { text: 'A run of a language model, token by token' }),
    ...said, makePart(run.prompt.messages ? 'assistant' : run.model, run.text), makeSettings(run));
}

/** @param {string} who @param {string} text */
const makePart = (who, text) => make('p', { class: 'at-shared-part' },
  make('span', { class: 'at-sm at-quiet', text: who }), make('span', { class: 'at-shared-text', text }));

const makeFooter = () => make('footer', { class: 'at-sm at-quiet' },
  'Made with Attend, which shows how a language model chooses each token. This file is self-contained: it fetches and sends nothing. To continue from this run, choose Open run in Attend.');
