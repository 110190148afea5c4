/**
 * The settings beside the text: the method list, the presets, the parameters in sight and the preview.
 *
 * `props.form` declares everything (ui/settings/panel.py). `props.value` holds what is typed: if the server refuses it, its
 * message says why.
 */

/** @import { PanelForm } from './settings_contract' */

import { areJudged, untaken, whenMoved } from '../kit/address/address.js';
import { helps } from '../glossary/helps.js';
import { find, make, makeButton } from '../kit/js/dom.js';
import { rangeText } from '../kit/js/setting.js';
import { connected, currentModel, decodingMethod, panelSettings, reusedSeed, shownTab } from '../kit/js/signals.js';
import { stageLabels } from '../kit/js/text.js';
import { unpacked } from '../kit/js/values.js';
import { makeField } from './fields.js';
import { makeMethodList } from './method_list.js';
import { readAddress, writeAddress } from './panel_address.js';
import { PanelState } from './panel_state.js';
import { makePreview, previewOf } from './preview.js';
import { warnOnButtons } from './refusal.js';
import { makeSearch, matches } from './search.js';

const PATIENCE = 20_000; // ms after which the address is judged even if parts of the page are missing

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger }) {
  const form = /** @type {PanelForm} */ (unpacked(props.form));
  const state = new PanelState(form, () => {
    draw();
    clearTimeout(writing);
    writing = setTimeout(() => writeAddress(form, state), 200); // browsers refuse to write it at every move of a slider
  });
  let writing = 0; // the timer after which the address is written

  const fields = form.parameters.map((parameter) => makeField(parameter, form, state));
  const explanations = [...form.parameters.map(({ name, help }) => [name, help]), ...Object.entries(form.meanings)];
  for (const [name, text] of explanations) helps.set(name, { where: 'In the settings', text });
  for (const [stage, label] of Object.entries(form.labels)) stageLabels.set(stage, label);

  const methods = makeMethodList(form.methods, (method) => state.chooseMethod(method));
  const presets = Object.entries(form.presets).map(([name, values]) => ({
    values, button: makeButton(name, () => state.change(values, form.preset_method)),
  }));
  const off = makeButton('', () => state.toggleFilters());
  const row = make('div', { id: 'attend-presets', class: 'at-row at-wrap at-gap-xs', role: 'group', 'aria-label': 'Presets' }, ...presets.map(({ button }) => button), off);
  const note = make('p', { class: 'at-note', role: 'status' });
  const group = (name) => fields.filter((field) => field.parameter.group === name).map(({ box }) => box);
  const sections = [...new Set(form.parameters.map(({ section }) => section).filter(Boolean))].map((title) => ({
    node: make('section', { 'aria-label': title }, make('h3', { text: title })),
    fields: fields.filter((field) => field.parameter.section === title),
  }));
  for (const { node, fields: own } of sections) node.append(...own.map(({ box }) => box));
  const advanced = make('details', { id: 'attend-advanced' }, make('summary', { text: 'Advanced' }), ...sections.map(({ node }) => node));
  const search = makeSearch(seek);
  /** @type {boolean[] | null} whether each fold was open before the search */
  let openBefore = null;
  const [runTitle, runValues] = [make('span'), make('span', { class: 'at-hint' })];
  const run = make('details', { id: 'attend-run' }, make('summary', {}, runTitle, runValues), ...group('run'));
  const choosing = make('div', { class: 'at-stack at-choosing' }, methods.node, row, note, search.node, ...group('plain'), advanced);
  const sharing = make('p', { class: 'at-help at-sharing', hidden: true,
    text: 'In Compare, each card has its own method. Only these settings apply here, to all cards.' });
  const preview = makePreview(choosing, (used) => previewOf(form, state, used));
  find(element, '.attend-settings').append(choosing, sharing, run, preview.node);

  function draw() {
    const { method, usualMethod, values, isOff, canRestore, isComparing } = state;
    methods.draw(method, Object.keys(form.tab_methods).filter((tab) => form.tab_methods[tab] === usualMethod));
    for (const preset of presets) {
      preset.button.setAttribute('aria-pressed', String(method === form.preset_method && !isOff && state.has(preset.values)));
    }
    off.textContent = isOff && canRestore ? 'Restore' : 'Turn filters off';
    off.setAttribute('aria-pressed', String(isOff));
    off.disabled = isOff && !canRestore;
    off.hidden = method !== form.preset_method;
    note.textContent = isOff && !off.hidden ? 'All filters are off: tokens are chosen by the model’s own probabilities.' : '';
    search.node.hidden = method !== form.preset_method; // the other methods have few settings
    for (const { parameter, box, draw: show } of fields) {
      box.hidden = !state.isShown(parameter.name) || !isSought(parameter);
      show(values[parameter.name]);
    }
    search.say(fields.filter(({ box }) => !box.hidden).length);
    for (const { node, fields: own } of sections) node.hidden = own.every(({ box }) => box.hidden);
    advanced.hidden = sections.every(({ node }) => node.hidden);
    run.hidden = group('run').every((box) => box.hidden);
    drawRun();
    preview.redraw();
    const wrong = state.invalid().find((parameter) => !isComparing || parameter.group === 'run');
    warnOnButtons(wrong ? `${wrong.label} must be ${rangeText(wrong)}.` : '');
    props.value = { method, values: { ...values } };
    const { max_new_tokens, top_candidates, seed } = values;
    decodingMethod.publish(method);
    panelSettings.publish({ max_new_tokens, top_candidates, seed });
  }

  /** @param {import('./settings_contract').PanelField} parameter */
  const isSought = (parameter) => search.node.hidden || matches(parameter, search.query);

  /** Show all matches, even in closed folds; after the search, the folds are as they were before. */
  function seek() {
    const folds = [advanced, run];
    if (search.query) openBefore ??= folds.map((fold) => fold.open);
    folds.forEach((fold, index) => { fold.open = search.query ? true : openBefore?.[index] ?? fold.open; });
    if (!search.query) openBefore = null;
    draw();
    if (search.query) search.node.scrollIntoView({ block: 'start' }); // the matches stand between the search box and the preview
  }

  /** The fold shows the length, and opens if it contains an invalid value. */
  function drawRun() {
    runTitle.textContent = state.isShown('seed') ? 'Length, seed and more' : 'Length and more';
    runValues.textContent = `${state.values.max_new_tokens ?? '–'} tokens`;
    run.open ||= state.invalid().some((parameter) => parameter.group === 'run');
  }

  /** In Compare, where every card has its own method, show only the settings that all cards share. @param {string} tab */
  function showTab(tab) {
    if (state.isComparing === (tab === 'Compare')) return;
    state.isComparing = !state.isComparing;
    choosing.hidden = state.isComparing;
    sharing.hidden = !state.isComparing;
    run.open = state.isComparing;
    draw();
  }

  reusedSeed.subscribe(element, (seed) => state.change({ seed }));
  readAddress(form, state);
  draw();
  whenMoved(() => writeAddress(form, state)); // the settings stay the same wherever a visitor goes
  addEventListener('pagehide', () => writeAddress(form, state)); // a reload opens the old address, but restores these
  currentModel.subscribe(element, (model) => state.followModel(model));
  shownTab.subscribe(element, showTab);
  // Until Gradio has mounted the component, no event reaches the server, so this one is repeated until it is heard. It is the
  // page's first event, and it waits for page/page.js so that kit/gradio/late_events.js sees its stream of replies. It also waits
  // for the scripts that take parts of the address: else a chapter could be refused because its script is late.
  const announcing = setInterval(() => {
    draw();
    const areAllHere = areJudged() || performance.now() > PATIENCE;
    if (!areAllHere || !document.body.hasAttribute('data-started')) return;
    trigger('opened', { misread: untaken().map((part) => part.join('=')) });
  }, 100);
  connected.subscribe(null, () => {
    clearInterval(announcing);
    draw();
    writeAddress(form, state, Object.fromEntries(untaken().map(([name]) => [name, null])));
  });
}
