/**
 * A text field whose text may be replaced by an answer, though never while something is typed there that nobody has taken.
 */

/** @param {HTMLInputElement | HTMLTextAreaElement} field @param {boolean} [isLive] whether it is taken key by key */
export function typing(field, isLive = false) {
  let known = ''; // what was shown or taken last
  return {
    /** What stands there, which is about to be asked. */
    take() {
      known = field.value;
      return known;
    },
    /** @param {string} text of an answer */
    put(text) {
      if (document.activeElement === field && (isLive || field.value !== known)) return;
      field.value = text;
      known = field.value; // with the line ends of a field
    },
  };
}
