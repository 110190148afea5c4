/**
 * Why Continue and Next token are disabled: the model has ended the text. The first key that is typed enables them at once: the
 * server's answer may come after the next click.
 */

export const STARTS = '#attend-continue, #attend-next';
export const REASON = 'The model ended its text here: keep typing, or use another token instead.';

const buttons = () => /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll(STARTS));

/** @param {HTMLTextAreaElement} box */
export function explainEnd(box) {
  const explain = () => { for (const button of buttons()) button.title = button.disabled ? REASON : ''; };
  const tools = document.querySelector('#attend-write-tools');
  new MutationObserver(explain).observe(tools, { subtree: true, childList: true, attributeFilter: ['disabled'] });
  box.addEventListener('input', () => { for (const button of buttons()) button.disabled = false; });
}
