/**
 * Keeps the end of a growing text in view, as long as the reader has not scrolled away from it.
 */

const NEAR = 48; // px from the end that still count as being there

/**
 * @param {HTMLElement} box that scrolls
 * @param {(isAtEnd: boolean) => void} [onScroll]
 * @param {() => void} [onFollow] called once the end is in view
 */
export function followEnd(box, onScroll = () => {}, onFollow = () => {}) {
  let isAtEnd = true;
  let followed = 0; // the position that was set last: the browser reports it when the text may have grown again
  let frame = 0;
  let isDemanded = false; // whether the end is to be brought into view wherever the reader is

  box.addEventListener('scroll', () => {
    const isHidden = !box.clientHeight; // since the reader scrolled: nobody can say where that was
    if (isHidden || (isAtEnd && box.scrollTop === followed)) return;
    isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
    if (!isAtEnd && !isDemanded) forgetFrame(); // the text has grown as the reader scrolled
    onScroll(isAtEnd);
  });

  function forgetFrame() {
    cancelAnimationFrame(frame);
    frame = 0;
  }

  function toEnd() {
    forgetFrame();
    isDemanded = false;
    box.scrollTop = box.scrollHeight;
    followed = box.scrollTop;
    isAtEnd = true;
    onScroll(isAtEnd);
    onFollow();
  }

  return {
    toEnd,
    get isAtEnd() { return isAtEnd; },
    /**
     * The text has grown. Its end is brought into view once a frame, since asking for the height lays the page out.
     * @param {boolean} always wherever the reader is
     */
    follow(always) {
      isAtEnd ||= always;
      isDemanded ||= always;
      if (isAtEnd) frame ||= requestAnimationFrame(toEnd);
    },
    /** The text is complete: if its end was followed, it is now read from its beginning. */
    toBeginning() {
      forgetFrame();
      isDemanded = false;
      if (isAtEnd) box.scrollTop = 0;
    },
  };
}
