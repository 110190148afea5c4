/**
 * A translator's attention: the two texts joined by lines, and the maps of its three kinds of attention.
 *
 * One choice of layer and head holds for all of them. A row of the decoder's maps is named after the token that its pass
 * chose; the query is the token before it.
 */

/** @import { AlignmentValue, HeadsValue } from './translate_contract' */

import { explained } from '../glossary/marking.js';
import { termLink } from '../glossary/term_link.js';
import { AVERAGE, makeAttention, withoutSinks } from '../inspector/attention/attention.js';
import { FULL } from '../inspector/attention/attention_panel.js';
import { makeHeadSelects } from '../inspector/attention/head_select.js';
import { makeMap } from '../inspector/attention/map.js';
import { find, make } from '../kit/js/dom.js';
import { exampleAlignment, selectToken, inspectedToken } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';
import { percent, visibleText } from '../kit/js/text.js';
import { whenThemed } from '../kit/js/theme.js';
import { unpacked } from '../kit/js/values.js';
import { makeAlignmentLines } from './alignment_lines.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-alignment');
  /** @type {AlignmentValue} whose run is null while there is none: the maps are measured even as they leave the page */
  let alignment = { run: null, reason: '', source: [], text: [], first: 1, controls: [], encoder: null, decoder: null, cross: null };
  /** @type {AlignmentValue | null} */
  let example = null;
  let newestUpdate = 0;
  const choice = { layer: AVERAGE, head: AVERAGE, ends: remembered('ends', 'shown') === 'shown' };
  const sourceName = (key) => visibleText(alignment.source[key] ?? '');
  const textName = (token) => visibleText(alignment.text[token] ?? '');
  const chosenName = (query) => textName(alignment.first + query);

  const kinds = [
    makeKind({
      name: 'cross', title: 'Cross-attention', help: 'how the translation attends to the source',
      keysOf: () => alignment.source.length, rowName: chosenName, keyName: sourceName, rowIs: 'generated', pick: pickRow,
    }),
    makeKind({
      name: 'decoder', title: 'Decoder self-attention', help: 'how the translation attends to its own earlier tokens',
      keysOf: (query) => alignment.first + query, rowName: chosenName, keyName: textName, rowIs: 'generated', pick: pickRow,
    }),
    makeKind({
      name: 'encoder', title: 'Encoder self-attention', help: 'how the source’s tokens attend to each other',
      keysOf: () => alignment.source.length, rowName: sourceName, keyName: sourceName, rowIs: 'token', pick: () => {},
    }),
  ];
  const [cross] = kinds;
  const lines = makeAlignmentLines({ onPick: pickRow });
  const headSelects = makeHeadSelects(choice, draw);
  const ends = make('input', { type: 'checkbox' });
  const reason = make('p', { class: 'at-quiet' });
  const panels = [
    make('div', { class: 'at-head at-map-head at-map-pane' }, make('h3', {}, termLink('alignment', 'Alignment')), ...headSelects.nodes),
    lines.node,
    make('label', { class: 'at-row at-gap-sm at-sm at-quiet at-sink' }, ends, ' hide the source’s special tokens'),
    make('div', { class: 'at-kinds' }, ...kinds.map(({ node }) => node)),
    make('p', {
      class: 'at-sm at-quiet at-how',
      text: 'Each row is a token and shows which tokens it attends to.',
    }),
  ];

  ends.checked = !choice.ends;
  ends.addEventListener('change', () => {
    choice.ends = !ends.checked;
    remember('ends', choice.ends ? 'shown' : 'hidden');
    draw();
  });
  inspectedToken.subscribe(root, ({ run, index }) => {
    lines.select(run !== null && run === alignment.run ? index ?? -1 : -1);
  });
  whenThemed(() => {
    for (const { map } of kinds) map.forgetColours();
    draw();
  });
  exampleAlignment.subscribe(root, (value) => {
    example = /** @type {AlignmentValue | null} */ (value.alignment);
    receive();
  });
  watch('value', receive);
  receive();

  function receive() {
    const value = /** @type {AlignmentValue | null} */ (props.value ? unpacked(props.value) : null);
    if ((value?.number ?? newestUpdate) < newestUpdate) return; // a newer update has overtaken it
    newestUpdate = value?.number ?? newestUpdate;
    alignment = (value?.run ? value : example) ?? { ...alignment, run: null };
    if (alignment.run === null) return root.replaceChildren();
    const before = cross.attention.layers;
    for (const kind of kinds) kind.receive(alignment[kind.name]);
    // By default, the mean of the last layer, which aligns best in most translators.
    if (before !== cross.attention.layers) choice.layer = cross.attention.layers - 1;
    headSelects.offer({
      layer: Math.max(...kinds.map(({ attention }) => attention.layers)),
      head: Math.max(...kinds.map(({ attention }) => attention.heads)),
    });
    reason.textContent = alignment.reason;
    root.replaceChildren(...(alignment.reason ? [reason] : panels));
    draw();
  }

  function draw() {
    if (alignment.run === null || alignment.reason || !element.isConnected) return;
    for (const kind of kinds) kind.draw();
    for (const kind of kinds) kind.map.reveal();
    const text = alignment.text.slice(alignment.first);
    const weights = text.map((_, query) => Array.from(cross.weightsOf(query) ?? []));
    lines.draw({ source: alignment.source, text, weights, title: cross.title() });
  }

  /** Inspect the token that a query chose. @param {number} query */
  function pickRow(query) {
    if (!selectToken(alignment.run, query)) trigger('token', { index: query });
  }

  /** One kind of attention and its map; `keysOf`, the names and `rowIs` are those of the map. @param {any} about */
  function makeKind({ name, title: kindTitle, help, keysOf, rowName, keyName, rowIs, pick }) {
    const attention = makeAttention(keysOf);
    const map = makeMap({
      weightsOf, rowName, keyName, keysOf, rowIs, onPick: pick, named: `${kindTitle} map`,
      describe: (query, key) => `${rowName(query)} → ${keyName(key)}: ${percent(weightsOf(query)[key])}`,
    });
    const node = make('figure', { class: 'at-kind', 'aria-label': kindTitle },
      make('figcaption', {}, explained(make('h4', { text: kindTitle })), make('p', { class: 'at-sm at-quiet at-how', text: help })), map.node);

    /** @param {number} query */
    function weightsOf(query) {
      const weights = attention.weights(query, choice.layer, choice.head);
      const hidesEnds = weights && !choice.ends && name !== 'decoder';
      return hidesEnds ? withoutSinks(weights, (key) => alignment.controls[key]) : weights;
    }

    /** The layers and heads that are averaged. A part of the model with fewer layers shows its last one. */
    function title() {
      const { layers, heads } = attention;
      const numberOf = (index, count) => (index === AVERAGE ? 1 : Math.min(index + 1, count));
      const layer = choice.layer === AVERAGE && layers > 1 ? `${layers} layers` : `layer ${numberOf(choice.layer, layers)}`;
      return choice.head === AVERAGE && heads > 1 ? `${layer}, average of ${heads} heads` : `${layer}, head ${numberOf(choice.head, heads)}`;
    }

    return {
      name, node, map, attention, weightsOf, title,
      /** @param {HeadsValue | null} heads */
      receive(heads) {
        attention.cut(0);
        if (heads) attention.put(heads.rows, 0, [heads.layers, heads.heads]);
        node.hidden = !heads;
      },
      draw() {
        const full = choice.layer === AVERAGE || choice.head === AVERAGE ? FULL.average : FULL.one;
        const keys = attention.end ? keysOf(attention.end - 1) : 0;
        if (keys) map.draw({ from: 0, end: attention.end, keys, marked: -1, title: title(), full });
      },
    };
  }
}
