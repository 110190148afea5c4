/**
 * The page without a server: the tabs, the settings beside them and the inspector. What a server does elsewhere, the tabs'
 * scripts do here, and the models run in workers of this browser.
 *
 * @typedef {object} Tab what a tab is made of
 * @property {HTMLElement} panel it stands in
 * @property {import('./models.js').PageModel} model
 * @property {number} context how many tokens the model reads
 * @property {import('./settings_panel.js').Settings} settings
 * @property {import('./inspector.js').Inspector} inspector
 * @property {string[]} examples
 * @property {string} prompt of the address
 * @property {import('../../ui/compare/compare_contract').CompareForm} form of a comparison
 * @property {{titles: Record<string, {title: string}>, files: string[], version: string}} course its chapters and its files
 * @typedef {{enter: () => void, take?: (branch: import('../service.js').Branch) => void}} OpenTab `enter` brings its run into the inspector, and
 *   `take` continues that run after another token
 */

import { enterClass } from '../../ui/classroom/classroom.js';
import { isTermName, offerGlossary } from '../../ui/glossary/glossary.js';
import { moveTo, takePart } from '../../ui/kit/address/address.js';
import { mayChangeText } from '../../ui/kit/address/class_part.js';
import { make } from '../../ui/kit/js/dom.js';
import { connect, currentModel, fileClosed, shownTab } from '../../ui/kit/js/signals.js';
import { addSkipLink } from '../../ui/kit/parts/skip_link.js';
import { followSystemTheme } from '../../ui/share/theme.js';
import * as chatTab from './chat.js';
import { makeHeader } from './header.js';
import { mountInspector } from './inspector.js';
import { chat, first, translator } from './models.js';
import { mountRecord } from './record.js';
import { mountSettings } from './settings_panel.js';
import { makeTabs } from './tabs.js';

/** By its name, each tab's model and its script; all but the first are fetched when they are opened. */
const TABS = {
  Chat: { model: chat, script: async () => chatTab },
  Write: { model: chat, script: () => import('./write.js') },
  Translate: { model: translator, script: () => import('./translate.js') },
  Compare: { model: chat, script: () => import('./compare/compare_tab.js') },
  Learn: { model: chat, script: () => import('./course/course_tab.js') },
};

const PRECISION = / \[\d+ bits\]$/; // at the end of a model's name

followSystemTheme();
const forms = JSON.parse(document.getElementById('attend-forms').textContent);
takePart('tab', (name) => name in TABS);
const [prompt, named] = ['prompt', 'model'].map((name) => takePart(name, () => true) ?? '');
const tabs = makeTabs(/** @type {(keyof typeof TABS)[]} */ (Object.keys(TABS)), show);
// Named as on the page with a server, for the styles of a class.
const [aside, right] = [make('aside', { id: 'attend-settings', 'aria-label': 'Settings' }), make('section', { id: 'attend-right', 'aria-label': 'Inspector' })];
const folded = make('details', { open: innerWidth > 1100 }, make('summary', {}, make('h2', { text: 'Settings' })));
aside.append(folded);
document.querySelector('#attend-alone').replaceChildren(
  makeHeader(named && !(named.replace(PRECISION, '') in forms.models) ? named : ''),
  make('div', { id: 'attend-main', class: 'at-alone-columns' }, aside, make('div', { id: 'attend-left', class: 'at-alone-texts' }, tabs.list, ...tabs.panels), right),
);
addSkipLink('.at-alone-ask textarea, .at-ask-text, .at-lesson-body h2');
enterClass({ hasServer: false });
const settings = mountSettings(folded, forms.panel);
right.append(make('h2', { class: 'at-hidden', text: 'Inspector' }));
const inspector = mountInspector(right, async (branch) => (await opened.get(shownTab.latest)).take?.(branch));
mountRecord(right, inspector);
/** @type {Map<string, Promise<OpenTab>>} those that were opened */
const opened = new Map();
let firstName = '';
tabs.follow();
fileClosed.subscribe(right, async () => (await opened.get(shownTab.latest)).enter());
offerGlossary({ titles: forms.course.titles, isOffered: () => true, open: openChapter }, takePart('glossary', isTermName));
// What keeps the page for visits without a network fetches all of it again, so it waits for the model.
first.load().then(() => navigator.serviceWorker?.register('offline.js')).catch(() => {}); // the page works without it

/** @param {keyof typeof TABS} name @param {HTMLElement} panel */
async function show(name, panel) {
  const { model, script } = TABS[name], about = forms.models[model.name];
  document.body.dataset.tab = name;
  document.title = `${name} · Attend in your browser`;
  currentModel.publish(about);
  shownTab.publish(name);
  model.load().catch(() => {}); // what went wrong is told
  if (!opened.has(name)) {
    firstName ||= name; // the tab of the address
    panel.replaceChildren(panel.firstElementChild); // the heading, without what an earlier try has left
    const started = script().then(({ startTab }) => startTab({
      panel, model, context: about.context, settings, inspector, examples: forms.examples[name] ?? [], prompt: name === firstName ? prompt : '',
      form: forms.compare, course: forms.course,
    }));
    started.catch(() => {
      opened.delete(name); // so that it is tried again
      panel.append(make('p', { role: 'status', text: 'This tab couldn’t be opened: check the connection, then open it again.' }));
    });
    opened.set(name, started);
  }
  const tab = await opened.get(name);
  if (!mayChangeText()) for (const box of panel.querySelectorAll('textarea')) box.readOnly = true;
  connect(); // the address is read by now
  if (shownTab.latest === name) tab.enter();
}

/** From the glossary. @param {string} key of the chapter */
async function openChapter(key) {
  moveTo({ chapter: key, numbers: null }, '#learn');
  await opened.get('Learn');
  /** @type {HTMLElement | null} */ (document.querySelector('.at-lesson-body section:not([hidden]) h2'))?.focus();
}
