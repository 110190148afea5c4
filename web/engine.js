/**
 * One of our models in this browser: from a message or a text to a run document. Knows no page and no worker.
 */

import { NO_PREFIX, branchOff } from './decoding/branch.js';
import { generate } from './decoding/generate.js';
import { attentionRow } from './decoding/run_document.js';
import { completeSettings } from './decoding/settings.js';
import { Transformer } from './model/transformer.js';
import { chatPrompt } from './text/conversation.js';
import { Tokenizer } from './text/tokenizer.js';

/** @typedef {import('./decoding/branch.js').Branch} Branch */
/** @typedef {import('./decoding/run_document.js').Run} Run */
/** @typedef {import('./decoding/settings.js').Settings} Settings */
/** @typedef {import('./text/conversation.js').Message} Message */
/** @typedef {string | Message[] | Branch} Input */
/**
 * What `web/export.py` writes into `model.json`.
 * @typedef {{name: string, config: import('./model/transformer.js').Config, settings:
 *  import('./decoding/settings.js').Parameter[], files: {name: string, bytes: number, sha256: string}[]}} Manifest
 */

const MAX_CHARACTERS = 20_000; // of one text, as on the page with a server: a longer one is not even tokenized

export class Engine {
  /** @param {Manifest} manifest @param {Tokenizer} tokenizer @param {Transformer} model */
  constructor(manifest, tokenizer, model) {
    this.manifest = manifest;
    this.tokenizer = tokenizer;
    this.model = model;
  }

  /** @param {Manifest} manifest @param {Record<string, Uint8Array>} files by their names */
  static async of(manifest, files) {
    const vocabulary = JSON.parse(new TextDecoder().decode(files['tokenizer.json']));
    return new Engine(manifest, new Tokenizer(vocabulary), await Transformer.of(manifest.config, files['weights.safetensors']));
  }

  /**
   * A run that has yet to be made: a text is continued or translated, a conversation is answered, or a run goes on after
   * another token.
   * @param {Input} input
   * @param {Settings} overrides the others have their defaults
   * @returns {Run}
   */
  start(input, overrides = {}) {
    const { manifest, tokenizer, model } = this;
    const { vocabulary_size: vocabularySize, context_length: contextLength, layers, heads, encoder_layers: encoder } = manifest.config;
    const settings = completeSettings(manifest.settings, overrides), end = tokenizer.specialToken('<end>');
    const branch = typeof input === 'object' && 'run' in input ? input : null;
    const typed = /** @type {string | Message[]} */ (branch ? branch.run.prompt.messages ?? branch.run.prompt.text : input);
    const messages = typeof typed === 'string' ? null : typed, prompt = messages ? messages.at(-1).content : String(typed);
    if (!prompt.trim()) throw new Error('The prompt is empty: enter at least one character.');
    const characters = [...prompt].length;
    if (characters > MAX_CHARACTERS) throw new Error(`The text has ${characters} characters, but the limit is ${MAX_CHARACTERS}: shorten it.`);
    const unknown = Object.keys(settings.logit_bias).find((id) => Number(id) >= vocabularySize);
    if (unknown) throw new Error(`logit_bias names token ${unknown}, but this model's highest token id is ${vocabularySize - 1}: choose smaller ids.`);
    const { ids: read, dropped = 0, prefix = NO_PREFIX } = this.#read(branch, messages, prompt, settings);
    if (read.length > contextLength) throw new Error(`The text has ${read.length} tokens, but the model reads at most ${contextLength}: shorten it.`);
    const request = {
      prompt: encoder ? model.decoderStart : read,
      source: encoder ? read : [],
      endTokens: [end],
      suppressed: model.decoderStart,
      contextLength,
      drawsUsed: prefix.steps.length,
      decode: (ids) => tokenizer.decode(ids, encoder > 0),
      texts: (ids) => tokenizer.texts(ids, encoder > 0),
      encode: (text) => tokenizer.encode(text),
    };
    return {
      model: manifest.name,
      prompt,
      ...(messages && { messages }),
      dropped,
      request,
      prefix,
      settings,
      steps: [],
      label: (id) => tokenizer.label(id),
      special: tokenizer.special,
      shape: { layers, heads },
    };
  }

  /**
   * The ids that the model reads before it writes.
   * @param {Branch | null} branch
   * @param {Message[] | null} messages
   * @param {string} prompt
   * @param {Settings} settings
   * @returns {{ids: number[], dropped?: number, prefix?: import('./decoding/branch.js').Prefix}}
   */
  #read(branch, messages, prompt, settings) {
    const { manifest: { config }, tokenizer } = this;
    if (branch) {
      if (tokenizer.special.has(branch.token)) throw new Error(`${tokenizer.label(branch.token)} has no text of its own, so it can’t be used here: choose another row.`);
      const { prompt: ids, prefix } = branchOff(branch);
      return { ids, prefix };
    }
    if (config.encoder_layers) return { ids: [...tokenizer.encode(prompt), tokenizer.specialToken('<end>')] };
    if (messages) return chatPrompt(tokenizer, messages, config.context_length, settings.max_new_tokens);
    return { ids: [tokenizer.specialToken('<s>'), ...tokenizer.encode(prompt)] };
  }

  /** Make a run, one step at a time; it yields null while the prompt is being read. @param {Run} run */
  *steps(run) {
    for (const step of generate(this.model, run.request, run.settings)) {
      if (step) run.steps.push(step);
      yield step;
    }
  }

  /** Where the encoder of the last run looked: queries and keys are the source's tokens; null where none has read. */
  get encoderHeads() {
    const { encoder_layers: layers, heads } = this.manifest.config;
    return layers ? { layers, heads, rows: this.model.source.attention.map(attentionRow) } : null;
  }
}
