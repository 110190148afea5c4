/**
 * Questions to the server. Each carries a number, which its reply repeats; the reply to one that was
 * refused is only its number, since the visitor has already seen the reason.
 */

const RETRY_MS = 5000; // after which a question is asked again, unless it says otherwise
const MAX_ASKED = 12; // times, then it counts as refused

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
   * @param {object | null} again for a question that may be repeated because its reply may be lost: what is different in the
   *   repetition; null: it is asked only once
   * @param {number} pause before each repetition, in milliseconds
   * @returns {number} of the question, from 1
   */
  ask(event, detail, then, again = null, pause = RETRY_MS) {
    this.#last += 1;
    const number = this.#last;
    this.#waiting.set(number, then);
    this.#trigger(event, { ...detail, number });
    if (again) this.#repeat(event, { ...detail, ...again, number }, pause);
    return number;
  }

  /** @param {string} event @param {{number: number}} question @param {number} pause */
  #repeat(event, question, pause) {
    let times = 1;
    const timer = setInterval(() => {
      if (!this.#waiting.has(question.number)) return clearInterval(timer);
      if (times === MAX_ASKED) return this.settle({ number: question.number });
      times += 1;
      this.#trigger(event, question);
    }, pause);
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
