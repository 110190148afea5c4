/**
 * Only the newest question counts. While one is open, the newest of those that follow waits for its reply, so that dragging a
 * slider keeps the server at one answer at a time.
 */

const OVERDUE_MS = 10_000; // after which an open question no longer holds up the next: its reply may be lost

/**
 * @param {import('../kit/js/questions.js').Questions} questions
 * @returns {(event: string, detail: object, then: (reply: any) => void) => void} asks a question; its reply is ignored if a
 *   newer one was asked meanwhile
 */
export function newestOnly(questions) {
  let last = 0; // the number of the question that was sent last
  let timer = 0; // runs while its reply is waited for; then 0
  /** @type {Parameters<typeof send> | null} */
  let next = null;

  /** @param {string} event @param {object} detail @param {(reply: any) => void} then */
  function send(event, detail, then) {
    questions.drop(last); // it may be overdue
    next = null;
    timer = setTimeout(proceed, OVERDUE_MS);
    last = questions.ask(event, detail, (reply) => {
      clearTimeout(timer);
      if (!proceed()) then(reply);
    });
  }

  /** Stop waiting, and send what follows. @returns {boolean} whether anything does */
  function proceed() {
    timer = 0;
    if (!next) return false;
    send(...next);
    return true;
  }

  return (...question) => {
    if (timer) next = question;
    else send(...question);
  };
}
