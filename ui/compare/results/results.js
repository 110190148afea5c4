/**
 * The results of the cards that were run, and the settings they were run with.
 *
 * @typedef {{settings: Settings, run: string | null, sent: Settings | null}} Card
 * @typedef {{run: string | null, sent: Settings | null, result: Result | null}} Written what a card had before `forget`
 * @typedef {{prompt: string, seed: number | null | undefined, cards: Settings[]}} Submission the prompt's key, and the settings
 *   in effect for each card
 */

/** @import { CardValue } from '../compare_contract' */
/** @import { Result } from '../cards/card.js' */
/** @import { Settings } from '../cards/form.js' */

import { isExample } from '../../examples/example.js';
import { same } from '../cards/form.js';

export class Results {
  /** @type {string | null} the name of the comparison */
  run = null;

  /** @type {Map<string, Result>} by run */
  #byRun = new Map();
  /** @type {Card[]} the cards that were sent last */
  #cards = [];
  /** @type {Submission | null} the last submission, until its first result arrives */
  #pending = null;
  /** @type {Submission} the submission that the texts in view belong to */
  #sent = { prompt: '', seed: undefined, cards: [] };

  /** Remember which cards are sent with what. @param {Card[]} cards @param {Submission} submission */
  submit(cards, submission) {
    this.#cards = cards.slice();
    this.#pending = submission;
  }

  /**
   * Whether this was sent and no result has arrived yet. Its first results may come with the overview of the tab, like those of
   * a comparison that this page did not ask for.
   * @param {Submission} submission
   */
  awaits({ prompt, cards }) {
    const sorted = (/** @type {Settings[]} */ list) => list.map((settings) => Object.entries(settings).toSorted());
    return this.#pending !== null && prompt === this.#pending.prompt && same(sorted(cards), sorted(this.#pending.cards));
  }

  get isEmpty() {
    return this.#byRun.size === 0;
  }

  /** Whether the texts in view were written from this prompt. @param {string} prompt its key */
  wereWrittenFrom(prompt) {
    return prompt === this.#sent.prompt;
  }

  /** @param {Card} card @returns {Result | null} */
  of(card) {
    return this.#byRun.get(card.run) || null;
  }

  /**
   * Keep the new tokens of the cards.
   * @param {string | null} run the comparison's name
   * @param {CardValue[]} values
   * @returns {boolean} false if earlier tokens are missing
   */
  put(run, values) {
    if (run !== this.run && run !== null) {
      this.#byRun.clear();
      this.#sent = this.#pending ?? this.#sent;
      this.#pending = null;
      this.#cards.forEach((card, index) => {
        card.run = values[index]?.run ?? null;
        card.sent = this.#sent.cards[index];
      });
    }
    this.run = run;
    let isWhole = true;
    for (const { since, tokens, ...rest } of values) {
      const before = this.#byRun.get(rest.run)?.tokens || [];
      isWhole &&= since <= before.length;
      this.#byRun.set(rest.run, { ...rest, tokens: before.slice(0, since).concat(tokens) });
    }
    return isWhole;
  }

  /** Drop the results of these cards. @param {Card[]} cards @returns {string[]} their runs, so far as the server has them */
  forget(cards) {
    const runs = cards.map((card) => card.run).filter((name) => name && this.#byRun.delete(name) && !isExample(name));
    for (const card of cards) [card.run, card.sent] = [null, null];
    return runs;
  }

  /** Undo `forget` for a card. @param {Card} card @param {Written} written */
  restore(card, { run, sent, result }) {
    [card.run, card.sent] = [run, sent];
    if (result) this.#byRun.set(run, result);
  }

  /**
   * What has changed since a card's text was written; "" for nothing. A random seed doesn't count.
   * @param {Card} card
   * @param {{prompt: string, seed: number | null | undefined, settings: Settings}} now
   */
  staleness(card, { prompt, seed, settings }) {
    if (card.sent === null) return '';
    if (this.#sent.prompt !== prompt) return 'Prompt changed';
    const isOther = !same(settings, card.sent) || (this.#sent.seed >= 0 && seed !== this.#sent.seed);
    return isOther ? 'Settings changed' : '';
  }
}
