/**
 * Questions to the server. Each carries a number, which its reply repeats; one that was refused is replied to with its
 * number alone, since the visitor has already seen the reason.
 */

export class Questions {
  /** @type {(event: string, data: object) => void} */
  #trigger;
  #last = 0;
  /** @type {Map<number, (reply: any) => void>} */
  #waiting = new Map();

  /** @param {(event: string, data: object) => void} trigger */
  constructor(trigger) {
    this.#trigger = trigger;
  }

  /**
   * @param {string} event
   * @param {object} detail
   * @param {(reply: any) => void} then
   * @returns {number} of the question, from 1
   */
  ask(event, detail, then) {
    this.#last += 1;
    this.#waiting.set(this.#last, then);
    this.#trigger(event, { ...detail, number: this.#last });
    return this.#last;
  }

  /** Ignore its reply. @param {number} number */
  drop(number) {
    this.#waiting.delete(number);
  }

  /** @param {{number: number, [name: string]: any}} reply */
  settle(reply) {
    const then = this.#waiting.get(reply.number);
    this.#waiting.delete(reply.number);
    then?.(reply);
  }

  /** The number of open questions. */
  get open() {
    return this.#waiting.size;
  }
}
