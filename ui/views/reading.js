/**
 * A text as an encoder reads it: its tokens, and where each of them looks, before and behind it.
 *
 * @typedef {{tokens: [string, string, null][], layers: number, heads: number, rows: string[]}} Value
 */

const root = element.querySelector('.attend-reading');
const read = { tokens: /** @type {[string, string, null][]} */ ([]), selected: -1 };
const textOf = (token) => read.tokens[token]?.[0] ?? '';
const attention = makeAttention(() => read.tokens.length);
const strip = makeStrip(select);
const look = makeLook({
  attention, textOf, onPick: select, onChange: draw, both: true,
  sinks: { name: 'the control tokens', are: (key) => read.tokens[key]?.[1] === 'control' },
});
const data = makeData(() => {
  const weights = look.numbers(read.selected);
  return weights ? [attentionSheet(weights, textOf)] : [];
});

root.append(
  make('section', { 'aria-label': 'Tokens' }, make('div', { class: 'at-head' }, make('h3', { text: 'Tokens' }),
    make('span', { class: 'at-legend', 'aria-hidden': 'true' },
      'ignored', make('i', { class: 'at-ramp at-ramp-attention' }), 'looked at')), strip.node),
  look.node, data.node);
whenThemed(() => {
  look.forgetColours();
  draw();
});
watch('value', receive);
receive();

function receive() {
  if (!props.value) return;
  const value = /** @type {Value} */ (unpacked(props.value));
  read.tokens = value.tokens;
  attention.cut(0);
  attention.put(value.rows, 0, [value.layers, value.heads]);
  strip.update(value.tokens);
  look.offer();
  select(value.tokens.findLastIndex(([, kind]) => kind !== 'control'));
}

/** @param {number} index */
function select(index) {
  read.selected = Math.max(0, index);
  strip.select(read.selected, true);
  draw();
}

function draw() {
  if (!read.tokens.length || !element.isConnected) return;
  look.draw(read.selected);
  const weights = look.weightsOf(read.selected) ?? new Float32Array(0);
  const peak = Math.max(...weights) || 1;
  strip.shade(Array.from(weights, (weight) => level(weight / peak)));
}
