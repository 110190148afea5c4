/**
 * The models of the page, each in a worker of its own and fetched when it is first needed. The one of the tab in the address
 * is fetched at once: this module is loaded before the others of the page.
 */

import { partOf } from '../../ui/kit/address/address.js';
import { BrowserModel } from '../browser_model.js';

/** @typedef {import('../service.js').Result} Result */

export class PageModel {
  /** @type {BrowserModel | null} */
  #worker = null;
  /** @type {Promise<void> | null} */
  #loading = null;
  #isBusy = false;
  #isStopped = false; // also while the model of a run is still loading
  /** @type {((words: string, isReady: boolean) => void)[]} */
  #followers = [];
  /** @type {[words: string, isReady: boolean]} */
  #state = ['', false];

  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /** Hear how its loading goes, in words, and whether it is ready. @param {(words: string, isReady: boolean) => void} follower */
  follow(follower) {
    this.#followers.push(follower);
    follower(...this.#state);
  }

  /** Fetch the model, once. */
  load() {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load() {
    this.#tell(`Loading ${this.name} …`);
    try {
      this.#worker = new BrowserModel();
      await this.#worker.load(new URL(`../../models/${this.name}/`, import.meta.url).href, (loaded, total) =>
        this.#tell(`Loading ${this.name}: ${Math.round((100 * loaded) / total)} % of ${(total / 1e6).toFixed(0)} MB`));
      this.#tell(`${this.name} is ready.`, true);
    } catch (error) {
      this.#worker?.close();
      this.#worker = this.#loading = null; // so that the next run tries again
      this.#tell(/** @type {Error} */ (error).message, true);
      throw error;
    }
  }

  /**
   * @param {import('../service.js').Input} input
   * @param {Record<string, any>} settings
   * @param {(tokens: import('../service.js').AnswerToken[]) => void} onStep
   * @returns {Promise<Result>}
   */
  run(input, settings, onStep) {
    return this.#alone(() => this.#worker.run(input, settings, (tokens) => {
      if (this.#isStopped) this.#worker.stop();
      onStep(tokens);
    }));
  }

  /**
   * Say for each of these settings with which error a run of the input would fail before its first step; null where it would not.
   * @param {import('../service.js').Input} input
   * @param {Record<string, any>[]} settings
   */
  check(input, settings) {
    return this.#alone(async () => {
      /** @type {(Error | null)[]} */
      const errors = [];
      for (const each of settings) errors.push(await this.#worker.check(input, each).then(() => null, (error) => error));
      return errors;
    });
  }

  /** Give an order to the worker, which follows one at a time. @template Answer @param {() => Promise<Answer>} order */
  async #alone(order) {
    if (this.#isBusy) throw new Error(`${this.name} is still writing another text: stop that first.`);
    this.#isBusy = true;
    this.#isStopped = false;
    try {
      await this.load();
      return await order();
    } finally {
      this.#isBusy = false;
    }
  }

  /** End its run before the next token. */
  stop() {
    this.#isStopped = true;
    this.#worker?.stop();
  }

  /** @param {string} words @param {boolean} [isReady] */
  #tell(words, isReady = false) {
    this.#state = [words, isReady];
    for (const follower of this.#followers) follower(words, isReady);
  }
}

export const chat = new PageModel('attend-chat');
export const translator = new PageModel('attend-translate');

/** The model of the tab in the address. */
export const first = [location.hash.slice(1), partOf('tab')?.toLowerCase()].includes('translate') ? translator : chat;
first.load().catch(() => {}); // what went wrong is told
