/**
 * The settings beside the text: which parameters are in sight, what they say, and the address that carries them.
 *
 * `props.form` declares everything (ui/settings/panel.py); `props.value` is what the controls say, as typed: an emptied
 * number is null and a wrong one stays as it is, for the server's check has the sentence.
 */

/** @import { PanelField, PanelForm } from './contract' */

import { onceConnected, partOf, takeParts, untaken, whenMoved, writeParts } from '../kit/address/address.js';
import { helps } from '../glossary/helps.js';
import { find, make } from '../kit/js/dom.js';
import { isInvalid, rangeText, readSetting } from '../kit/js/setting.js';
import { currentModel, panelSettings, shownTab } from '../kit/js/signals.js';
import { unpacked } from '../kit/js/values.js';
import { isDrawable } from './distribution.js';
import { makeField } from './fields.js';
import { makeMethodList } from './method_list.js';
import { makePreview } from './preview.js';
import { warnOnButtons } from './refusal.js';
import { movedStage, stageNames, stagesInOrder } from './stages.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger }) {
  const form = /** @type {PanelForm} */ (unpacked(props.form));
  const state = { method: form.first.method, values: { ...form.first.values } };
  /** @type {Map<string, import('./fields.js').Field>} by name */
  const fields = new Map();
  let usual = form.first.method; // the model's, until the visitor chooses one
  /** @type {Map<string, string>} what was chosen in place of each usual method: translators have another one */
  const methodsChosen = new Map();
  let awaited = history.state?.model ?? partOf('model'); // the model that the address names a method for, until it is there
  let before = null; // the samplers' values before they were turned off
  let reached = 0; // tokens of the context that lengths go up to
  let writing = 0; // the timer after which the address is written
  let comparing = false; // Compare is in sight

  /* ---- what the settings mean ---- */

  const strategy = () => form.methods[state.method].strategy ?? state.values.strategy;
  const isShown = (name) => {
    const method = form.methods[state.method];
    const { parameter } = fields.get(name);
    if (comparing && parameter.group === 'run') return true; // a card may use it
    return (!method.shows || method.shows.includes(name)) && parameter.strategies.includes(strategy());
  };
  const isNeutral = (name) => state.values[name] === fields.get(name).parameter.neutral;
  const isSet = (values) => Object.entries(values).every(([name, value]) => state.values[name] === value);
  const neutral = () => Object.fromEntries(form.samplers.map((name) => [name, fields.get(name).parameter.neutral]));

  const orderOfAll = () => stagesInOrder(stageNames(form.first.values.order), state.values.order);

  function stagesOn() {
    const chain = form.chains[strategy()]; // the stages that it can run
    const isOn = (name) => isShown(name) && !isNeutral(name);
    return orderOfAll().filter((stage) => chain.includes(stage) && form.stages[stage].some(isOn));
  }

  /** What a parameter says before anybody touches it. @param {string} name @param {string} method */
  function startOf(name, method = state.method) {
    const first = form.methods[method].starts[name] ?? form.first.values[name];
    const { longest, maximum } = fields.get(name).parameter;
    return longest ? Math.min(first, maximum) : first;
  }

  /* ---- the address: whatever differs from the start; a reload and a copied link bring it back ---- */

  function readAddress() {
    const known = new Map(form.parameters.map((parameter) => [parameter.name, parameter]));
    const address = new URLSearchParams(location.search.replace(/([?&])way=/, '$1method=')); // so older links say it
    const method = address.get('method');
    if (Object.hasOwn(form.methods, method)) {
      Object.assign(state, { method, values: { ...state.values, ...form.methods[method].starts } });
    } else awaited = null;
    if (['method', ...form.samplers].some((name) => address.has(name))) methodsChosen.set(usual, state.method);
    takeParts((name, value) => {
      if (name === 'method' || name === 'way') return value === state.method;
      const isUnderstood = known.has(name) && !isMisread(known.get(name), value);
      if (isUnderstood) state.values[name] = readSetting(known.get(name), value);
      return isUnderstood;
    });
  }

  function isMisread(parameter, value) {
    switch (parameter.kind) {
      case 'number': return isInvalid(parameter, readSetting(parameter, value));
      case 'word': return !parameter.choices.some(([choice]) => choice === value);
      case 'order': return !stageNames(value).every((stage) => Object.hasOwn(form.stages, stage));
      default: return false; // a text; checked when it is used
    }
  }

  /** @param {import('../kit/address/address.js').Parts} others */
  function writeAddress(others = {}) {
    const parts = form.parameters.map(({ name }) => [name, state.values[name] === startOf(name) ? null : state.values[name] ?? '']);
    const method = state.method === usual ? null : state.method;
    writeParts({ ...others, way: null, method, ...Object.fromEntries(parts) });
  }

  /* ---- changing them ---- */

  function change(values, method = state.method) {
    if (method !== state.method || form.samplers.some((name) => name in values)) methodsChosen.set(usual, method);
    state.method = method;
    Object.assign(state.values, values);
    draw();
    clearTimeout(writing);
    writing = setTimeout(() => writeAddress(), 200); // browsers refuse to write it at every move of a slider
  }

  function chooseMethod(method) {
    const { shows, starts } = form.methods[method];
    const off = form.samplers.filter((name) => shows?.includes(name) && isNeutral(name));
    const own = [form.methods[state.method].starts, starts].flatMap(Object.keys); // they neither stay behind nor are kept
    change(Object.fromEntries([...off, ...own].map((name) => [name, startOf(name, method)])), method);
  }

  function neutralise() {
    if (before) return change(before);
    const kept = Object.fromEntries(form.samplers.map((name) => [name, state.values[name]]));
    change(neutral());
    before = kept;
    draw();
  }

  /** The method for another model, or what the visitor chose in its place. @param {string} model @param {string} method */
  function follow(model, method) {
    if (model === awaited) {
      methodsChosen.delete(usual);
      methodsChosen.set(method, state.method);
      awaited = null;
    }
    if (usual === method) return;
    usual = method;
    change({}, methodsChosen.get(method) ?? method);
  }

  /** Lengths reach as far as the context of the model. @param {number} tokens */
  function reach(tokens) {
    if (reached === tokens) return; // repeated with every update of a download
    reached = tokens;
    const shorter = {};
    for (const parameter of form.parameters.filter(({ longest }) => longest)) {
      parameter.maximum = Math.min(parameter.longest, tokens);
      if (state.values[parameter.name] > parameter.maximum) shorter[parameter.name] = parameter.maximum;
    }
    change(shorter);
  }

  const move = (stage, by) => change({ order: movedStage(orderOfAll(), stagesOn(), stage, by).join(', ') });

  /* ---- the whole ---- */

  const panel = { form, stagesOn, move, startOf, put: (name, value) => change({ [name]: value }) };
  for (const parameter of form.parameters) fields.set(parameter.name, makeField(parameter, panel));
  const explanations = [...form.parameters.map(({ name, help }) => [name, help]), ...Object.entries(form.meanings)];
  for (const [name, text] of explanations) helps.set(name, { where: 'In the settings', text });

  const methods = makeMethodList(form.methods, chooseMethod);
  /** @type {[Record<string, any>, HTMLButtonElement][]} */
  const presets = Object.entries(form.presets).map(([name, values]) => [values, make('button',
    { type: 'button', text: name, onclick: () => change(values, form.preset_method) })]);
  const off = make('button', { type: 'button', onclick: neutralise });
  const row = make('div', { id: 'attend-presets', role: 'group', 'aria-label': 'Presets' }, ...presets.map(([, button]) => button), off);
  const note = make('p', { class: 'at-note', role: 'status' });
  const group = (name) => [...fields.values()].filter((field) => field.parameter.group === name).map(({ box }) => box);
  const advanced = make('details', { id: 'attend-advanced' }, make('summary', { text: 'Advanced' }), ...group('advanced'));
  const [runTitle, runValues] = [make('span'), make('span', { class: 'at-hint' })];
  const run = make('details', { id: 'attend-run' }, make('summary', {}, runTitle, runValues), ...group('run'));
  const choosing = make('div', { class: 'at-choosing' }, methods.node, row, note, ...group('plain'), advanced);
  const sharing = make('p', { class: 'at-help at-sharing', hidden: true,
    text: 'In Compare, each card has its own method. Only these settings apply here, to all cards.' });
  const preview = makePreview(choosing, previewed);
  find(element, '.attend-settings').append(choosing, sharing, run, preview.node);

  function draw() {
    methods.draw(state.method);
    const isOff = isSet(neutral());
    if (!isOff) before = null;
    for (const [values, button] of presets) {
      button.setAttribute('aria-pressed', String(state.method === form.preset_method && !isOff && isSet(values)));
    }
    off.textContent = isOff && before ? 'Restore' : 'Turn filters off';
    off.setAttribute('aria-pressed', String(isOff));
    off.disabled = isOff && !before;
    off.hidden = state.method !== form.preset_method; // the others have their one parameter
    note.textContent = isOff && !off.hidden ? 'All filters are off: tokens are chosen by the model’s own probabilities.' : '';
    for (const [name, { box, draw: show }] of fields) {
      box.hidden = !isShown(name);
      show(state.values[name]);
    }
    advanced.hidden = group('advanced').every((box) => box.hidden);
    drawRun();
    preview.redraw();
    const wrong = wrongOnes().find(({ group: own }) => !comparing || own === 'run');
    warnOnButtons(wrong ? `${wrong.label} must be ${rangeText(wrong)}.` : '');
    props.value = { method: state.method, values: { ...state.values } };
    const { max_new_tokens, top_candidates, seed } = state.values;
    panelSettings.publish({ max_new_tokens, top_candidates, seed });
  }

  /** What the preview draws: the filters that are on, and which of them one step does not say enough about. */
  function previewed() {
    const isCold = strategy() === 'sample' && isShown('temperature') && state.values.temperature < form.zero_temperature;
    const acting = isCold ? 'greedy' : strategy();
    if (comparing || !['greedy', 'sample'].includes(acting)) return null;
    const on = stagesOn().filter((stage) => form.chains[acting].includes(stage));
    const isFixed = (stage) => stage !== 'temperature' || !isShown('dynatemp_range') || isNeutral('dynatemp_range');
    const drawn = on.filter((stage) => isDrawable(stage) && isFixed(stage));
    if (drawn.some((stage) => isInvalid(fields.get(stage).parameter, state.values[stage]))) return null;
    const filters = drawn.map((stage) => ({ stage, value: state.values[stage] }));
    const left = on.filter((stage) => !drawn.includes(stage)).map((stage) => form.labels[stage]);
    if (acting === 'greedy') filters.push({ stage: 'greedy', value: 1 });
    else if (isShown('mirostat_mode') && !isNeutral('mirostat_mode')) left.push(fields.get('mirostat_mode').parameter.label);
    return { filters, left };
  }

  /** The parameters in use that would be refused. */
  const wrongOnes = () => form.parameters.filter((parameter) =>
    isShown(parameter.name) && isInvalid(parameter, state.values[parameter.name]));

  /** The fold says the length, and does not hide what would be refused. */
  function drawRun() {
    const { max_new_tokens: length } = state.values;
    runTitle.textContent = isShown('seed') ? 'Length, seed and more' : 'Length and more';
    runValues.textContent = `${length ?? '–'} tokens`;
    run.open ||= wrongOnes().some(({ group: own }) => own === 'run');
  }

  /** Where every card has its own method, only what holds for all of them is in sight. @param {string} tab */
  function showTab(tab) {
    if (comparing === (tab === 'Compare')) return;
    comparing = !comparing;
    choosing.hidden = comparing;
    sharing.hidden = !comparing;
    run.open = comparing;
    draw();
  }

  document.addEventListener('attend-seed', (event) => change({ seed: /** @type {CustomEvent} */ (event).detail }));
  readAddress();
  draw();
  whenMoved(() => writeAddress()); // the settings stay where a visitor goes
  currentModel.subscribe(element, ({ name, context, method }) => {
    reach(context);
    follow(name, method);
  });
  shownTab.subscribe(element, showTab);
  // Until Gradio has taken the component up, nothing that happens here reaches the server, so it is sent until it is answered.
  // It is the page's first event, whose stream of replies kit/gradio/late_events.js must see: so it waits for page.js.
  const announcing = setInterval(() => {
    draw();
    if (!document.body.hasAttribute('data-started')) return;
    trigger('opened', { misread: untaken().map((part) => part.join('=')) });
  }, 100);
  onceConnected(() => {
    clearInterval(announcing);
    draw();
    writeAddress(Object.fromEntries(untaken().map(([name]) => [name, null])));
  });
}
