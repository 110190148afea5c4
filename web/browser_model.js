/**
 * A model in a worker, as a page uses it: load it, run it, stop it.
 */

/** @typedef {import('./service.js').Order} Order */
/** @typedef {import('./service.js').News} News */

export class BrowserModel {
  /** @param {Pick<Worker, 'postMessage' | 'onmessage' | 'onerror' | 'terminate'>} [worker] */
  constructor(worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })) {
    this.worker = worker;
  }

  /**
   * @param {string} folder the address of what `web/export.py` wrote, with a slash at its end
   * @param {(loaded: number, total: number) => void} [onProgress] in bytes
   * @returns {Promise<string>} the name of the model
   */
  async load(folder, onProgress) {
    const { name } = await this.#order({ kind: 'load', folder }, 'loaded', (news) => {
      if (news.kind === 'progress') onProgress?.(news.loaded, news.total);
    });
    return name;
  }

  /**
   * Continue a text or a run, translate a text, or answer a conversation.
   * @param {import('./service.js').Input} input
   * @param {import('./decoding/settings.js').Settings} [settings] the others have their defaults
   * @param {(tokens: import('./service.js').AnswerToken[]) => void} [onStep] with those written so far
   * @returns {Promise<import('./service.js').Result>} of a run that was stopped as well
   */
  async run(input, settings = {}, onStep) {
    const { result } = await this.#order({ kind: 'run', input, settings }, 'done', (news) => {
      if (news.kind === 'step') onStep?.(news.tokens);
    });
    return result;
  }

  /**
   * Fail as a run of this input would before its first step.
   * @param {import('./service.js').Input} input
   * @param {import('./decoding/settings.js').Settings} [settings]
   */
  async check(input, settings = {}) {
    await this.#order({ kind: 'check', input, settings }, 'checked', () => {});
  }

  /** End the run that is being made before its next token. */
  stop() {
    this.worker.postMessage({ kind: 'stop' });
  }

  /** End the worker. */
  close() {
    this.worker.terminate();
  }

  /**
   * @template {News['kind']} Kind
   * @param {Order} order
   * @param {Kind} last the kind of the news that ends it
   * @param {(news: News) => void} onNews what comes before that
   * @returns {Promise<Extract<News, {kind: Kind}>>}
   */
  #order(order, last, onNews) {
    return new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data: news }) => {
        if (news.kind === 'failed') reject(new Error(news.message));
        else if (news.kind === last) resolve(/** @type {any} */ (news));
        else onNews(news);
      };
      this.worker.onerror = () => reject(new Error('The model can’t run here: reload the page, or use another browser.')); // its script failed
      this.worker.postMessage(order);
    });
  }
}
