/**
 * Questions of which only the newest counts. While one is open, the newest of those that follow waits for its reply: a slider
 * that is dragged keeps the server at one answer, not at dozens.
 */

const OVERDUE_MS = 10_000; // after which an open question no longer holds up the next: its reply may be lost

/**
 * @param {import('../kit/js/questions.js').Questions} questions
 * @returns {(event: string, detail: object, then: (reply: any) => void) => void} asks; the reply to a question that another
 *   has followed is ignored
 */
export function newestOnly(questions) {
  let open = 0; // the number of the question that waits for its reply
  let isOverdue = false;
  let timer = 0;
  /** @type {Parameters<typeof send> | null} */
  let next = null;

  /** @param {string} event @param {object} detail @param {(reply: any) => void} then */
  function send(event, detail, then) {
    questions.drop(open);
    clearTimeout(timer);
    [next, isOverdue] = [null, false];
    timer = setTimeout(() => {
      isOverdue = true;
      if (next) send(...next);
    }, OVERDUE_MS);
    open = questions.ask(event, detail, (reply) => {
      clearTimeout(timer);
      open = 0;
      if (next) send(...next);
      else then(reply);
    });
  }

  return (...question) => {
    if (open && !isOverdue) next = question;
    else send(...question);
  };
}
