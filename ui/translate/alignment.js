/**
 * A translator's attention: the two texts joined by lines, and the maps of its three kinds of attention.
 *
 * One choice of layer and head is for all of them. A row of the decoder's maps is called after the token that its pass
 * chose, whose query is the token before.
 */

/** @import { AlignmentValue, HeadsValue } from './translate_contract' */

import { explained } from '../glossary/marking.js';
import { termLink } from '../glossary/term_link.js';
import { AVERAGE, makeAttention, withoutSinks } from '../inspector/attention/attention.js';
import { FULL } from '../inspector/attention/attention_panel.js';
import { makeHeadSelects } from '../inspector/attention/head_select.js';
import { makeMap } from '../inspector/attention/map.js';
import { find, make } from '../kit/js/dom.js';
import { exampleAlignment, selectToken, shownToken } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';
import { percent, visibleText } from '../kit/js/text.js';
import { whenThemed } from '../kit/js/theme.js';
import { unpacked } from '../kit/js/values.js';
import { makeAlignmentLines } from './alignment_lines.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-alignment');
  const shown = {
    run: /** @type {string | null} */ (null), source: /** @type {string[]} */ ([]), text: /** @type {string[]} */ ([]),
    first: 1, controls: /** @type {boolean[]} */ ([]), reason: '',
  };
  let example = /** @type {AlignmentValue | null} */ (null);
  const choice = { layer: AVERAGE, head: AVERAGE, ends: remembered('ends', 'shown') === 'shown' };
  const sourceName = (key) => visibleText(shown.source[key] ?? '');
  const textName = (token) => visibleText(shown.text[token] ?? '');
  const chosenName = (query) => textName(shown.first + query);

  const kinds = [
    makeKind({
      name: 'cross', title: 'Cross-attention', help: 'how the translation attends to the source',
      keysOf: () => shown.source.length, rowName: chosenName, keyName: sourceName, rowIs: 'generated', pick: pickRow,
    }),
    makeKind({
      name: 'decoder', title: 'Decoder self-attention', help: 'how the translation attends to its own earlier tokens',
      keysOf: (query) => shown.first + query, rowName: chosenName, keyName: textName, rowIs: 'generated', pick: pickRow,
    }),
    makeKind({
      name: 'encoder', title: 'Encoder self-attention', help: 'how the source’s tokens attend to each other',
      keysOf: () => shown.source.length, rowName: sourceName, keyName: sourceName, rowIs: 'token', pick: () => {},
    }),
  ];
  const [cross] = kinds;
  const links = makeAlignmentLines({ onPick: pickRow });
  const headSelects = makeHeadSelects(choice, draw);
  const ends = make('input', { type: 'checkbox' });
  const reason = make('p', { class: 'at-quiet' });
  const drawn = [
    make('div', { class: 'at-head at-map-head at-map-pane' }, make('h3', {}, termLink('alignment', 'Alignment')), ...headSelects.nodes),
    links.node,
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
  shownToken.subscribe(root, ({ run, index }) => {
    links.select(shown.run !== null && run === shown.run ? index ?? -1 : -1);
  });
  whenThemed(() => {
    for (const { map } of kinds) map.forgetColours();
    draw();
  });
  exampleAlignment.subscribe(root, ({ alignment }) => {
    example = /** @type {AlignmentValue | null} */ (alignment);
    receive();
  });
  watch('value', receive);
  receive();

  function receive() {
    const value = props.value ? /** @type {AlignmentValue} */ (unpacked(props.value)) : example;
    if (!value) {
      shown.run = null;
      root.replaceChildren();
      return;
    }
    Object.assign(shown, value);
    const before = cross.attention.layers;
    for (const kind of kinds) kind.receive(value[kind.name]);
    // By default, the mean of the last layer, which aligns best in most translators.
    if (before !== cross.attention.layers) choice.layer = cross.attention.layers - 1;
    headSelects.offer({
      layer: Math.max(...kinds.map(({ attention }) => attention.layers)),
      head: Math.max(...kinds.map(({ attention }) => attention.heads)),
    });
    reason.textContent = value.reason;
    root.replaceChildren(...(value.reason ? [reason] : drawn));
    draw();
  }

  function draw() {
    if (shown.run === null || shown.reason || !element.isConnected) return;
    for (const kind of kinds) kind.draw();
    for (const kind of kinds) kind.map.reveal();
    const text = shown.text.slice(shown.first);
    const weights = text.map((_, query) => Array.from(cross.weightsOf(query) ?? []));
    links.draw({ source: shown.source, text, weights, title: cross.title() });
  }

  /** @param {number} query whose token the inspector is to show */
  function pickRow(query) {
    if (!selectToken(shown.run, query)) trigger('token', { index: query });
  }

  /** One kind of attention and its map; `keysOf`, the names and `rowIs` as the map has them. @param {any} about */
  function makeKind({ name, title: called, help, keysOf, rowName, keyName, rowIs, pick }) {
    const attention = makeAttention(keysOf);
    const map = makeMap({
      weightsOf, rowName, keyName, keysOf, rowIs, onPick: pick, named: `${called} map`,
      describe: (query, key) => `${rowName(query)} → ${keyName(key)}: ${percent(weightsOf(query)[key])}`,
    });
    const node = make('figure', { class: 'at-kind', 'aria-label': called },
      make('figcaption', {}, explained(make('h4', { text: called })), make('p', { class: 'at-sm at-quiet at-how', text: help })), map.node);

    /** @param {number} query */
    function weightsOf(query) {
      const weights = attention.weights(query, choice.layer, choice.head);
      const hidden = weights && !choice.ends && name !== 'decoder';
      return hidden ? withoutSinks(weights, (key) => shown.controls[key]) : weights;
    }

    /** Whose mean it is; of a part with fewer layers the last. */
    function title() {
      const layer = choice.layer === AVERAGE ? attention.layers : 1;
      const head = choice.head === AVERAGE ? attention.heads : 1;
      const which = layer > 1 ? `${layer} layers` : `layer ${choice.layer === AVERAGE ? 1 : Math.min(choice.layer + 1, attention.layers)}`;
      return head > 1 ? `${which}, average of ${head} heads` : `${which}, head ${choice.head === AVERAGE ? 1 : Math.min(choice.head + 1, attention.heads)}`;
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
