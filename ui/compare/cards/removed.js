/**
 * The cards of a comparison that were removed, which Undo puts back, the last one first.
 *
 * @typedef {{card: Card, index: number, name: string} & Written} RemovedCard
 */

/** @import { Card } from '../compare.js' */
/** @import { Written } from '../results/results.js' */

const MAX_NAME = 40; // characters of a card's name on the button that puts it back

export class Removed {
  /** @type {RemovedCard[]} */
  #cards = [];

  /** @param {Card[]} cards @param {Card} card one of them @param {{name: string[]}[]} words of each @param {Written['result']} result */
  push(cards, card, words, result) {
    const index = cards.indexOf(card), name = words[index].name.join(' · ');
    this.#cards.push({ card, index, name: name && name.length <= MAX_NAME ? name : `card ${index + 1}`, run: card.run, sent: card.sent, result });
  }

  pop() {
    return this.#cards.pop();
  }

  clear() {
    this.#cards = [];
  }

  /** @returns {RemovedCard | undefined} what Undo would put back */
  get last() {
    return this.#cards.at(-1);
  }
}
