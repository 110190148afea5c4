/**
 * A text as an encoder reads it: its tokens, and what each attends to on both sides.
 */

/** @import { ReadingValue } from './encoder_contract' */

import { makeAttention } from '../inspector/attention/attention.js';
import { makeAttentionPanel } from '../inspector/attention/attention_panel.js';
import { attentionSheet } from '../inspector/sheets.js';
import { makeStrip } from '../inspector/tokens.js';
import { makeData } from '../kit/js/data.js';
import { find, make } from '../kit/js/dom.js';
import { level } from '../kit/js/text.js';
import { whenThemed } from '../kit/js/theme.js';
import { unpacked } from '../kit/js/values.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, watch }) {
  const root = find(element, '.attend-reading');
  const read = { tokens: /** @type {import('../inspector/tokens.js').ShownToken[]} */ ([]), selected: -1 };
  const textOf = (token) => read.tokens[token]?.text ?? '';
  const attention = makeAttention(() => read.tokens.length);
  const strip = makeStrip(select);
  const attentionPanel = makeAttentionPanel({
    attention, textOf, onPick: select, onChange: draw, both: true,
    sinks: { name: 'the special tokens', are: (key) => read.tokens[key]?.kind === 'control' },
  });
  const data = makeData(() => {
    const weights = attentionPanel.numbers(read.selected);
    return weights ? [attentionSheet(weights, textOf)] : [];
  });

  root.append(
    make('section', { 'aria-label': 'Tokens' }, make('div', { class: 'at-head' }, make('h3', { text: 'Tokens' }),
      make('span', { class: 'at-row at-gap-sm at-end at-sm at-quiet', 'aria-hidden': 'true' },
        'ignored', make('i', { class: 'at-ramp at-ramp-attention' }), 'attended to')), strip.node),
    attentionPanel.node, data.node);
  whenThemed(() => {
    attentionPanel.forgetColours();
    draw();
  });
  watch('value', receive);
  receive();

  function receive() {
    if (!props.value) return;
    const value = /** @type {ReadingValue} */ (unpacked(props.value));
    read.tokens = value.labels.map((text, index) => ({ text, kind: value.kinds[index], probability: null }));
    attention.cut(0);
    attention.put(value.rows, 0, [value.layers, value.heads]);
    strip.update(read.tokens);
    attentionPanel.offer();
    select(read.tokens.findLastIndex(({ kind }) => kind !== 'control'));
  }

  /** @param {number} index */
  function select(index) {
    read.selected = Math.max(0, index);
    strip.select(read.selected);
    strip.reveal();
    draw();
  }

  function draw() {
    if (!read.tokens.length || !element.isConnected) return;
    attentionPanel.draw(read.selected);
    attentionPanel.reveal();
    const weights = attentionPanel.weightsOf(read.selected) ?? new Float32Array(0);
    const peak = Math.max(...weights) || 1;
    strip.shade(Array.from(weights, (weight) => level(weight / peak)));
  }
}
