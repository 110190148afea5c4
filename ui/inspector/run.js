/**
 * The run in the inspector: its tokens, the steps that chose them, its attention and its beams. Draws nothing.
 */

/**
 * @typedef {{id: number, text: string, kind: string, probability: number | null}} Token
 */

/** @import { InspectorValue } from './inspector_contract' */
/** @import { Step } from './step.js' */

import { isExample } from '../examples/example.js';
import { AVERAGE, makeAttention } from './attention/attention.js';
import { makeSearch } from './beams/search.js';
import { named, probabilityOf } from './step.js';

export class Run {
  /** @type {string | null} */
  name = null;
  mode = 'chat';
  isBusy = false; // whether it is being written
  isServed = true; // whether there is a server to ask; a shared file has none
  first = 0; // the number of the first generated token
  /** @type {Token[]} */
  tokens = [];
  /** @type {(Step | undefined)[]} by token number */
  steps = [];
  /** @type {Record<string, any> | null} those that chose the tokens from number `settingsFrom` on, as in a run document */
  settings = null;
  settingsFrom = 0;
  isMissingTokens = false; // whether an update was lost
  /** @type {number | null} the token to follow, where it isn't the last one with a text */
  followed = null;
  attention = makeAttention();
  search = makeSearch();

  /** Whether the server can be asked about it, once it is written. */
  get isKnown() {
    return this.isServed && !isExample(this.name);
  }

  /** Whether another token can be used in place of this one; in Chat, only of a generated one. @param {number} index */
  isExchangeable(index) {
    return !isExample(this.name) && (this.mode === 'write' || (this.mode === 'chat' && index >= this.first));
  }

  /** Another run takes its place. @param {string | null} name */
  begin(name) {
    Object.assign(this, { name, tokens: [], steps: [], settings: null, isMissingTokens: false, followed: null });
    this.attention.cut(0);
    this.search.put(null);
  }

  /** The text was changed and has become another run; its unchanged beginning is kept. @param {string | null} name */
  rename(name) {
    Object.assign(this, { name, settings: null, isMissingTokens: false });
    this.search.put(null);
  }

  /** Replace the tokens from number `since` on. @param {InspectorValue} value */
  merge(value) {
    const since = value.since || 0;
    if (!since) Object.assign(this, { settings: value.settings ?? null, settingsFrom: value.settings_from ?? 0 });
    this.followed = value.newest ?? null;
    this.isMissingTokens = since > this.tokens.length || !this.search.put(value.search, value.labels);
    if (this.isMissingTokens) return;
    this.tokens = this.tokens.slice(0, since).concat(value.ids.map((id, i) =>
      ({ id, text: value.labels[id], kind: value.kinds[i], probability: value.probabilities[i] })));
    const from = Math.max(this.first, since);
    this.steps.length = Math.min(this.steps.length, from);
    const stepsFrom = value.steps_from ?? from;
    value.steps.forEach((step, i) => {
      this.steps[stepsFrom + i] = named(step, value.labels);
    });
    const promptFrom = this.first - (value.prompt_steps?.length ?? 0);
    value.prompt_steps?.forEach((step, i) => {
      this.steps[promptFrom + i] = named(step, value.labels);
    });
    this.tokens = this.tokens.map((token, index) => {
      const step = index < this.first && token.probability === null ? this.steps[index] : undefined;
      return step ? { ...token, probability: probabilityOf(step) } : token;
    });
    if (since) this.attention.cut(since - 1); // the pass that chose token `since` had its query one before it
    this.attention.put(value.rows, value.rows_from, [value.layers, value.heads], value.source);
    if (!since) this.attention.keep(value.rows_from, value.rows_from + value.rows.length);
  }

  /** The settings with which a step chose its token; null where they are not known. @param {Step} step */
  settingsOf(step) {
    return this.steps.indexOf(step) >= this.settingsFrom ? this.settings : null;
  }

  /** The last generated token that has a text, since the end token says little; or the end, where that alone was asked for. */
  get newest() {
    const end = this.tokens.length - 1;
    if (this.followed !== null) return Math.min(this.followed, end);
    for (let index = end; index >= this.first; index -= 1) {
      if (this.tokens[index].kind !== 'control') return index;
    }
    return end;
  }

  /** Whether the step and the attention of a token are at hand; to save bytes, the server leaves some out. @param {number} index */
  isComplete(index) {
    if (index < this.first) return !this.isMissingRows;
    return this.steps[index] && (this.attention.first < 0 || this.attention.weights(index - 1, AVERAGE, AVERAGE) !== null);
  }

  /** Whether the map would begin in the middle: the attention of the first passes was left out. */
  get isMissingRows() {
    return this.attention.first > Math.max(0, this.first - 1);
  }

  /** How many tokens stand before the first one that the model wrote. In Write, those of the typed text have steps, too. */
  get promptLength() {
    const written = this.tokens.findIndex(({ kind }, index) => index >= this.first && kind !== 'prompt');
    return written < 0 ? this.tokens.length : written;
  }

  /** @param {number} index */
  positionOf(index) {
    const prompt = this.promptLength;
    return index >= prompt ? `Token ${index - prompt + 1} of ${this.tokens.length - prompt}` : `Prompt token ${index + 1} of ${prompt}`;
  }
}
