/**
 * The inspector: the tokens of one run, and the table and attention of the one that is selected.
 *
 * It keeps the run it was given, updates it with what is new, and selects without asking the server. Events: 'take'
 * (another token in its place, Write only) and 'missing' (an update was lost; send the run whole).
 *
 * @typedef {{run: string | null, mode: 'chat' | 'write', tokens: [string, string, number | null][], first: number,
 *   steps: Step[], layers: number, heads: number, rows: string[], rows_from: number, selected: number | null,
 *   busy: boolean, since?: number}} Value
 */

const root = element.querySelector('.attend-inspector');
const attention = makeAttention();
const strip = makeStrip(select);
const map = makeMap({ weightsOf, describe, onPick: (query) => select(query + 1) });
const data = makeData(sheets);

const run = {
  name: /** @type {string | null} */ (null), mode: 'chat', busy: false, gap: false, first: 0,
  tokens: /** @type {[string, string, number | null][]} */ ([]),
  steps: /** @type {(Step | undefined)[]} */ ([]), // by token number
};
const choice = {
  index: -1, following: true, told: /** @type {number | null} */ (null), // what the server last asked to be shown
  layer: AVERAGE, head: AVERAGE, sink: remembered('sink', 'shown') === 'shown',
};
let frame = 0;
let tableOf = null;

const follow = make('button', { type: 'button', class: 'at-follow', text: 'Follow the newest' });
const previous = iconButton('previous', 'Previous token', () => select(choice.index - 1));
const next = iconButton('next', 'Next token', () => select(choice.index + 1));
const headline = make('div', { class: 'at-headline', 'aria-live': 'off' });
const reason = make('div', { class: 'at-reason' });
const table = make('div', { class: 'at-table-pane' });
const looked = make('ol', { class: 'at-looked' });
const layerSelect = make('select', { 'aria-label': 'Layer', title: 'One layer, or the average of all' });
const headSelect = make('select', { 'aria-label': 'Head', title: 'One head, or the average of all' });
const sink = make('input', { type: 'checkbox' });
const noMap = make('p', { class: 'at-quiet at-no-map' });

const hint = make('div', { class: 'at-empty' },
  make('p', { class: 'at-empty-title', text: 'Nothing has been generated yet.' }),
  make('p', {
    class: 'at-quiet',
    text: 'Here every token will show what else could have stood in its place, and where the model looked.',
  }));
const panels = [
  make('section', { 'aria-label': 'Tokens' },
    make('div', { class: 'at-head' }, make('h3', { text: 'Tokens' }), follow, makeColours()), strip.node),
  make('section', { class: 'at-step', 'aria-label': 'Selected token' },
    make('div', { class: 'at-step-head' }, headline, make('div', { class: 'at-walk' }, previous, next)), reason),
  make('div', { class: 'at-columns' },
    table,
    make('section', { class: 'at-map-pane', 'aria-label': 'Attention' },
      make('div', { class: 'at-head at-map-head' }, make('h3', { text: 'Attention' }),
        layerSelect, headSelect),
      map.node, noMap, looked,
      make('label', { class: 'at-sink' }, sink, ' hide the first token (attention sink)'))),
  data.node,
];

root.replaceChildren(hint);
followColour(root);
sink.checked = !choice.sink;
follow.addEventListener('click', () => {
  choice.following = true;
  settle();
});
sink.addEventListener('change', () => {
  choice.sink = !sink.checked;
  remember('sink', choice.sink ? 'shown' : 'hidden');
  redraw();
});
for (const [box, part] of [[layerSelect, 'layer'], [headSelect, 'head']]) {
  box.addEventListener('change', () => {
    choice[part] = Number(box.value);
    redraw();
  });
}
listen(SIGNAL.colour, redraw);
listen(SIGNAL.select, (event) => {
  const index = run.first + event.detail.index;
  if (event.detail.run === null || event.detail.run !== run.name || !run.tokens[index]) return;
  event.preventDefault();
  select(index);
});
new MutationObserver(() => {
  map.forgetColours();
  redraw();
}).observe(document.body, { attributes: true, attributeFilter: ['class'] });
watch('value', receive);
receive();

/** A value arrived: keep what is new in it. */
function receive() {
  if (!props.value) return;
  const value = /** @type {Value} */ (unpacked(props.value));
  if (value.run !== run.name) startRun(value);
  run.busy = value.busy;
  run.mode = value.mode;
  run.first = value.first;
  merge(value);
  if (value.selected !== choice.told) {
    choice.told = value.selected;
    choice.following = value.selected === null;
    if (value.selected !== null) choice.index = value.selected;
  }
  if (choice.index >= run.tokens.length) choice.following = true; // the end was cut off
  if (run.gap && !run.busy) trigger('missing', { run: run.name });
  root.classList.toggle('at-busy', run.busy);
  if (!run.tokens.length) root.replaceChildren(hint);
  else if (!table.isConnected) root.replaceChildren(...panels);
  strip.update(run.tokens);
  drawChoices();
  settle();
}

/** @param {Value} value */
function startRun(value) {
  Object.assign(run, { name: value.run, tokens: [], steps: [], gap: false });
  Object.assign(choice, { index: -1, following: true, told: null });
  attention.cut(0);
}

/** Everything before `since` stands; what is from there on is replaced. @param {Value} value */
function merge(value) {
  const since = value.since || 0;
  run.gap = since > run.tokens.length;
  if (run.gap) return;
  run.tokens = run.tokens.slice(0, since).concat(value.tokens);
  const from = Math.max(run.first, since);
  run.steps.length = Math.min(run.steps.length, from);
  value.steps.forEach((step, i) => {
    run.steps[from + i] = step;
  });
  if (since) attention.cut(since - 1); // the pass that chose token `since` had its query one before it
  attention.put(value.rows, value.rows_from, [value.layers, value.heads]);
  if (!since) attention.keep(value.rows_from, value.rows_from + value.rows.length);
}

/** @param {number} index selected by hand: stays there until "follow" */
function select(index) {
  if (!run.tokens[index]) return;
  choice.following = false;
  choice.index = index;
  settle();
}

function settle() {
  if (choice.following) choice.index = run.tokens.length - 1;
  strip.select(choice.index, true);
  redraw();
}

/** Many things can change in one frame: they are drawn together. */
function redraw() {
  if (!frame) frame = requestAnimationFrame(draw);
}

function draw() {
  frame = 0;
  if (!run.tokens.length || !element.isConnected) return;
  const { index } = choice;
  const [text, kind] = run.tokens[index];
  const step = run.steps[index];
  const newest = run.tokens.length - 1;
  follow.hidden = choice.following || (index === newest && !run.busy);
  previous.disabled = index <= 0;
  next.disabled = index >= newest;
  const place = index >= run.first
    ? `Token ${index - run.first + 1} of ${run.tokens.length - run.first}` : `Given token ${index + 1} of ${run.first}`;
  headline.replaceChildren(...stepHeadline({ text, place, step, why: 'part of the prompt: nothing was chosen here' }));
  reason.replaceChildren(...(step ? stepReason(step, kind === 'prompt') : []));
  drawTable(step);
  drawAttention();
  data.draw();
}

/** @param {Step | undefined} step */
function drawTable(step) {
  const able = run.mode === 'write' && !run.busy;
  const wanted = step ? `${run.name} ${choice.index} ${able}` : '';
  if (tableOf && tableOf.step === step && tableOf.wanted === wanted) return;
  tableOf = { step, wanted };
  const { index } = choice;
  const take = able ? (id) => trigger('take', { index, id }) : null;
  table.replaceChildren(step ? stepTable(step, take)
    : make('p', {
      class: 'at-quiet', text: 'This token was given. Choose a generated one to see what else could have stood there.',
    }));
}

function drawChoices() {
  fillSelect(layerSelect, 'layer', attention.layers, choice.layer);
  fillSelect(headSelect, 'head', attention.heads, choice.head);
  if (choice.layer >= attention.layers) choice.layer = AVERAGE;
  if (choice.head >= attention.heads) choice.head = AVERAGE;
}

/** @param {HTMLSelectElement} box @param {string} name @param {number} count @param {number} now */
function fillSelect(box, name, count, now) {
  if (box.options.length === count + 1) return;
  const option = (value, text) => make('option', { value, text, selected: value === now });
  box.replaceChildren(option(AVERAGE, `all ${name}s`),
    ...Array.from({ length: count }, (_, i) => option(i, `${name} ${i + 1}`)));
}

/** Weights as the map colours them. @param {number} query */
function weightsOf(query) {
  const weights = attention.weights(query, choice.layer, choice.head);
  return weights && !choice.sink ? withoutSink(weights) : weights;
}

/** @param {number} query @param {number} key */
function describe(query, key) {
  const share = attention.weights(query, choice.layer, choice.head)[key];
  const name = (index) => visibleText(run.tokens[index]?.[0] ?? '');
  const outcome = run.tokens[query + 1] ? `, choosing ${name(query + 1)}` : '';
  return `${name(query)} → ${name(key)}: ${percent(share)}${outcome}`;
}

function drawAttention() {
  const query = choice.index - 1;
  const from = attention.first;
  const weights = query >= 0 ? attention.weights(query, choice.layer, choice.head) : null;
  map.node.hidden = from < 0;
  noMap.hidden = Boolean(weights);
  noMap.textContent = from < 0 ? 'No attention was kept of this run.' : 'No attention was kept for this token.';
  if (from >= 0) map.draw({ from, end: attention.end, marked: query, title: attentionTitle() });
  const shown = weights ? strongest(choice.sink ? weights : weights.map((weight, key) => (key ? weight : 0)), 5) : [];
  looked.replaceChildren(...shown.map(([key, weight]) => lookedAt(key, weight, shown[0][1])));
  looked.hidden = !shown.length;
  shade(weights);
}

function attentionTitle() {
  const count = (choice.layer === AVERAGE ? attention.layers : 1) * (choice.head === AVERAGE ? attention.heads : 1);
  const layer = choice.layer === AVERAGE ? '' : `layer ${choice.layer + 1}, `;
  const head = choice.head === AVERAGE ? '' : `head ${choice.head + 1}`;
  if (count === 1) return layer + head;
  return head ? `${head}, average of ${count} layers` : `${layer}average of ${count} heads`;
}

/** @param {number} key @param {number} weight @param {number} largest */
function lookedAt(key, weight, largest) {
  const bar = make('i', { class: 'at-after' });
  bar.style.width = `${(100 * weight) / largest}%`;
  const button = make('button', { type: 'button', class: 'at-looked-at', title: 'Select this token' },
    tokenChip(run.tokens[key][0]), make('span', { class: 'at-bar' }, bar),
    make('span', { class: 'at-number', text: percent(weight) }));
  button.addEventListener('click', () => select(key));
  return make('li', {}, button);
}

/** Tell the conversation what is shown, and shade both by attention when that is the colour. */
function shade(weights) {
  const colours = weights && root.dataset.colour === 'attention' ? weightsOf(choice.index - 1) : null;
  const levels = root.dataset.colour === 'attention' ? shades(colours ?? new Float32Array(0)) : null;
  strip.shade(levels);
  const index = choice.index >= run.first ? choice.index - run.first : null;
  signal(SIGNAL.selected, { run: run.name, index, levels: levels && levels.slice(run.first) });
}

/** @param {Float32Array} weights against the strongest but for the first token, so that long contexts do not pale */
function shades(weights) {
  const peak = Math.max(0, ...weights.subarray(1)) || 1;
  return Array.from(weights, (weight) => level(weight / peak));
}

/** @returns {Sheet[]} */
function sheets() {
  const step = run.steps[choice.index];
  const weights = choice.index > 0 ? attention.weights(choice.index - 1, choice.layer, choice.head) : null;
  return [
    ...(step ? [candidateSheet(step)] : []),
    ...(weights ? [attentionSheet(weights, (key) => run.tokens[key][0])] : []),
  ];
}
