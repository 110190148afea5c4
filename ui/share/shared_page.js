/**
 * What all shared files have in common: their beginning, the message where one is damaged, what was asked and answered, the
 * inspector, and what they say of themselves.
 */

/** @import { RunDocument } from '../../decoding/run/run_document' */
/** @import { InspectorValue } from '../inspector/inspector_contract' */

import { start } from '../inspector/inspector.js';
import { make } from '../kit/js/dom.js';
import { takeStageLabels } from './stage_labels.js';
import { followSystemTheme } from './theme.js';

/**
 * @param {string} json the document of the file, which anyone may have changed
 * @param {(root: Element, document: any) => void} draw
 */
export function showShared(json, draw) {
  followSystemTheme();
  takeStageLabels();
  const root = document.querySelector('#attend-shared');
  try {
    draw(root, JSON.parse(json));
  } catch (error) {
    console.error(error);
    root.replaceChildren(make('p', { role: 'alert', text: 'This file was changed or cut off, so it can’t be shown: ask for it again.' }));
  }
}

/**
 * @param {string} title @param {RunDocument} run that the page is named after
 * @param {string[][]} said who said what
 * @param {...Node} parts under that
 */
export function makeHeader(title, { model, prompt }, said, ...parts) {
  document.title = `${model}: ${prompt.text.slice(0, 60)}`;
  return make('header', { class: 'at-shared-head' }, make('h1', { text: title }), ...said.map(([who, text]) => make('p', { class: 'at-shared-part' },
    make('span', { class: 'at-sm at-quiet', text: who }), make('span', { class: 'at-shared-text', text }))), ...parts);
}

/** What a run was asked, by whom. @param {RunDocument} run */
export const askedIn = ({ prompt }) => prompt.messages?.map(({ role, content }) => [role, content]) ?? [['prompt', prompt.text]];

/** The inspector, which shows one run after another. */
export function makeInspector() {
  const node = make('section', { 'aria-label': 'Inspector' }, make('div', { class: 'attend-inspector at-view' }));
  const props = { beginning: { alone: true }, value: /** @type {InspectorValue | null} */ (null) };
  let receive = () => {};
  start({ element: node, props, trigger: () => {}, watch: (_, changed) => { receive = changed; } });

  /** @param {InspectorValue} value */
  function show(value) {
    props.value = value;
    receive();
  }

  return { node, show };
}

export const makeFooter = () => make('footer', { class: 'at-sm at-quiet' },
  'Made with Attend, which shows how a language model chooses each token. This file is self-contained: it fetches and sends nothing. To continue from this run, choose Open run in Attend.');
