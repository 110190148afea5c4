/**
 * A text as an encoder reads it: its tokens, and what each attends to on both sides.
 */

/** @import { ReadingValue } from './encoder_contract' */

import { makeAttention } from '../inspector/attention/attention.js';
import { makeAttentionPanel } from '../inspector/attention/attention_panel.js';
import { attentionSheet } from '../inspector/sheets.js';
import { makeStrip } from '../inspector/token_strip.js';
import { makeData } from '../kit/js/data.js';
import { find, make } from '../kit/js/dom.js';
import { level } from '../kit/js/text.js';
import { whenThemed } from '../kit/js/theme.js';
import { followValue } from '../kit/js/values.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const { element } = component;
  const root = find(element, '.attend-reading');
  const reading = { tokens: /** @type {import('../inspector/token_strip.js').ShownToken[]} */ ([]), selected: -1 };
  const textOf = (token) => reading.tokens[token]?.text ?? '';
  const attention = makeAttention(() => reading.tokens.length);
  const strip = makeStrip(select);
  const attentionPanel = makeAttentionPanel({
    attention, textOf, onPick: select, onChange: draw, both: true,
    sinks: { name: 'the special tokens', are: (key) => reading.tokens[key]?.kind === 'control' },
  });
  const data = makeData(() => {
    const weights = attentionPanel.numbers(reading.selected);
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
  followValue(component, receive);

  /** @param {ReadingValue} value */
  function receive(value) {
    reading.tokens = value.labels.map((text, index) => ({ text, kind: value.kinds[index], probability: null }));
    attention.cut(0);
    attention.put(value.rows, 0, [value.layers, value.heads]);
    strip.update(reading.tokens);
    attentionPanel.offer();
    select(reading.tokens.findLastIndex(({ kind }) => kind !== 'control'));
  }

  /** @param {number} index */
  function select(index) {
    reading.selected = Math.max(0, index);
    strip.select(reading.selected);
    strip.reveal();
    draw();
  }

  function draw() {
    if (!reading.tokens.length || !element.isConnected) return;
    attentionPanel.draw(reading.selected);
    attentionPanel.reveal();
    const weights = attentionPanel.weightsOf(reading.selected) ?? new Float32Array(0);
    const peak = Math.max(...weights) || 1;
    strip.shade(Array.from(weights, (weight) => level(weight / peak)));
  }
}
