/**
 * The attention panel: the map of one layer and head or of an average, and the tokens that one pass attends to most. For a
 * token that no pass chose, it lists the tokens whose passes attended to it most.
 *
 * It owns the choice of layer, head and hidden tokens; the inspector owns the selection.
 */

/** @import { Attention, AttentionKind } from './attention.js' */

import { explained } from '../../glossary/marking.js';
import { termLink } from '../../glossary/term_link.js';
import { make } from '../../kit/js/dom.js';
import { remember, remembered } from '../../kit/js/storage.js';
import { percent, tokenChip, visibleText } from '../../kit/js/text.js';
import { AVERAGE, strongest, withoutSinks } from './attention.js';
import { makeHeadSelects } from './head_select.js';
import { makeMap } from './map.js';

// The weight of the strongest colour. It depends on what is chosen, never on the numbers, so that nothing is repainted while a
// text grows and two texts can be compared. An average over heads never comes near 100 %, since heads attend to different tokens.
export const FULL = { one: 1, average: 0.4 };

export const NO_ATTENTION = 'No attention was recorded for this run.';
const FIRST_TOKEN = { name: 'the first token (attention sink)', are: (key) => key === 0 };

/**
 * @param {{attention: Attention, textOf: (token: number) => string,
 *   onPick: (token: number) => void, onChange: () => void, absent?: () => string, both?: boolean, sinks?: {name: string,
 *   are: (key: number) => boolean}}} wiring `onPick` is called with a token to select; `absent`: what is said where there is no attention;
 *   `both`: tokens attend to both sides; `sinks` can be hidden
 */
export function makeAttentionPanel({ attention, textOf, onPick, onChange, absent = () => NO_ATTENTION, both = false, sinks = FIRST_TOKEN }) {
  const choice = {
    layer: AVERAGE, head: AVERAGE, kind: /** @type {AttentionKind} */ ('cross'), sink: remembered('sink', 'shown') === 'shown',
  };
  const nameOf = (token) => visibleText(textOf(token));
  const tokenOf = (query) => query + (both ? 0 : 1); // the token that a row is named after
  const map = makeMap({
    weightsOf, rowName: (query) => nameOf(tokenOf(query)), keyName: nameOf, describe,
    onPick: (query) => onPick(tokenOf(query)), rowIs: both ? 'token' : 'generated',
    keysOf: (query) => (both ? attention.end : query + 1),
  });
  const attended = make('ol', { class: 'at-attended' });
  const headSelects = makeHeadSelects(choice, onChange);
  const kindSelect = make('select', { 'aria-label': 'Kind of attention', hidden: true },
    make('option', { value: 'cross', text: 'to the source (cross-attention)' }),
    make('option', { value: 'self', text: 'to the text so far (self-attention)' }));
  const sink = make('input', { type: 'checkbox' });
  const noMap = make('p', { class: 'at-quiet at-no-map' });
  const sinkLabel = make('label', { class: 'at-row at-gap-sm at-sm at-quiet at-sink' }, sink, explained(make('span', { text: `hide ${sinks.name}` })));
  const node = make('section', { class: 'at-map-pane', 'aria-label': 'Attention' },
    make('div', { class: 'at-head at-map-head' }, make('h3', {}, termLink('attention', 'Attention')), kindSelect, ...headSelects.nodes),
    map.node, noMap, attended,
    sinkLabel);

  sink.checked = !choice.sink;
  sink.addEventListener('change', () => {
    choice.sink = !sink.checked;
    remember('sink', choice.sink ? 'shown' : 'hidden');
    onChange();
  });
  kindSelect.addEventListener('change', () => {
    choice.kind = /** @type {AttentionKind} */ (kindSelect.value);
    sinkLabel.hidden = kind() === 'cross';
    onChange();
  });

  /** Offer the layers, heads and kinds of attention that the run's model has. */
  function offer() {
    headSelects.offer({ layer: attention.layers, head: attention.heads });
    sink.disabled = !attention.layers;
    kindSelect.hidden = !attention.source;
    sinkLabel.hidden = kind() === 'cross';
  }

  /** The weights, or null where they are not available. @param {number} query */
  const numbers = (query) => (query >= 0 ? attention.weights(query, choice.layer, choice.head, kind()) : null);

  /** @returns {AttentionKind} without a source, there is only self-attention */
  const kind = () => (attention.source ? choice.kind : 'self');

  /** Whether a key is a sink, which only tokens of the text so far are. @param {number} key */
  const isSink = (key) => kind() === 'self' && sinks.are(key - attention.source);

  /** Weights as the map colours them. @param {number} query */
  function weightsOf(query) {
    const weights = numbers(query);
    return weights && !choice.sink ? withoutSinks(weights, isSink) : weights;
  }

  /** @param {number} query */
  function draw(query) {
    const from = attention.first;
    const weights = numbers(query);
    const column = weights ? null : received(tokenOf(query));
    map.node.hidden = from < 0;
    noMap.hidden = Boolean(weights);
    noMap.textContent = from < 0 ? absent()
      : column ? 'This token was attended to most when choosing:' : 'No attention was recorded for this token.';
    const full = averaged() > 1 ? FULL.average : FULL.one;
    if (from >= 0) {
      const selectedKey = column ? tokenOf(query) : -1;
      map.draw({ from, end: attention.end, keys: attention.end, marked: query, column: selectedKey, title: title(), full });
    }
    const listed = column ?? (choice.sink ? weights : weights?.map((weight, key) => (isSink(key) ? 0 : weight)));
    const top = listed ? strongest(listed, 5) : [];
    attended.replaceChildren(...top.map(({ key, weight }) => attendedToken(key, weight, top[0].weight)));
    attended.hidden = !top.length;
  }

  /**
   * How much each later token attended to a token when it was chosen, by the later token's number; null if no such pass is at
   * hand.
   * @param {number} token of the prompt, which no pass chose
   */
  function received(token) {
    const weights = token >= 0 ? attention.received(token, choice.layer, choice.head) : null;
    if (!weights) return null;
    const byToken = new Float32Array(tokenOf(weights.length));
    byToken.set(weights, tokenOf(0));
    return byToken;
  }

  /** @param {number} query @param {number} key */
  function describe(query, key) {
    const chose = both ? '' : `, when choosing ${nameOf(query + 1)}`;
    return `${nameOf(query)} → ${nameOf(key)}: ${percent(numbers(query)[key])}${chose}`;
  }

  const averaged = () =>
    (choice.layer === AVERAGE ? attention.layers : 1) * (choice.head === AVERAGE ? attention.heads : 1);

  function title() {
    const layer = choice.layer === AVERAGE ? '' : `layer ${choice.layer + 1}, `;
    const head = choice.head === AVERAGE ? '' : `head ${choice.head + 1}`;
    if (averaged() === 1) return layer + head;
    return head ? `${head}, average of ${averaged()} layers` : `${layer}average of ${averaged()} heads`;
  }

  /** @param {number} key @param {number} weight @param {number} largest */
  function attendedToken(key, weight, largest) {
    const bar = make('i', { class: 'at-attended-bar' });
    bar.style.width = `${(100 * weight) / largest}%`;
    const button = make('button', { type: 'button', class: 'at-option at-attended-token', title: 'Select this token' },
      tokenChip(textOf(key)), make('span', {}, bar),
      make('span', { class: 'at-number', text: percent(weight) }));
    button.addEventListener('click', () => onPick(key));
    return make('li', {}, button);
  }

  /** Show the map of a layer and head, if the run has them. @param {number} layer @param {number} head @param {AttentionKind} [of] */
  function choose(layer, head, of = choice.kind) {
    Object.assign(choice, { layer, head, kind: of }); // the selects follow with the next offer
    kindSelect.value = of;
  }

  return { node, draw, reveal: map.reveal, offer, choose, numbers, received, weightsOf, forgetColours: map.forgetColours };
}
