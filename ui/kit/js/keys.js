/**
 * Keyboard handling for rows, grids and elements that act as buttons.
 */

/**
 * The index that a key moves to in a row.
 * @param {string} key
 * @param {number} here
 * @param {number} count
 * @returns {number | null} the new index, which may be out of range; null for any other key
 */
export const alongRow = (key, here, count) =>
  ({ ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: count - 1 })[key] ?? null;

/** Where a key leads on a plane, as steps to the right and down. @param {string} key @returns {[number, number] | null} */
export const onPlane = (key) =>
  ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] })[key] ?? null;

/** @param {string} key of a button or what acts as one */
export const presses = (key) => key === 'Enter' || key === ' ';

/**
 * Keyboard navigation over a group of elements with one tab stop (a roving tabindex); Enter opens the focused one.
 * @param {KeyboardEvent} event
 * @param {HTMLElement[]} items
 * @param {(item: HTMLElement) => void} open
 */
export function moveAlongRow(event, items, open) {
  const here = items.findIndex((item) => item === document.activeElement);
  const goal = alongRow(event.key, here, items.length);
  if (here < 0 || (goal === null && !presses(event.key))) return;
  event.preventDefault();
  if (goal === null) open(items[here]);
  else if (items[goal]) {
    items[here].tabIndex = -1;
    items[goal].tabIndex = 0;
    items[goal].focus();
  }
}

/**
 * Let Escape close something that is open, while the focus is in it.
 * @param {HTMLElement} node
 * @param {() => void} close
 * @param {() => boolean} [isOpen]
 */
export function closeOnEscape(node, close, isOpen = () => true) {
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || !isOpen()) return;
    event.preventDefault(); // it stops nothing else
    close();
  });
}
