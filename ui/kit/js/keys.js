/**
 * Moving with the keys in rows and drawings, and elements that act as buttons.
 */

/**
 * The index that a key leads to, which may be out of range; null for any other key.
 * @typedef {(key: string, here: number, count: number) => number | null} Movement
 */

/** @param {string} back @param {string} forward @returns {Movement} */
const along = (back, forward) => (key, here, count) =>
  ({ [back]: here - 1, [forward]: here + 1, Home: 0, End: count - 1 })[key] ?? null;

export const alongRow = along('ArrowLeft', 'ArrowRight');
export const alongColumn = along('ArrowUp', 'ArrowDown');

/** Where a key leads on a plane, as steps to the right and down. @param {string} key @returns {[number, number] | null} */
export const onPlane = (key) =>
  ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] })[key] ?? null;

/**
 * The pressed key; "" if it isn't meant for the page: with Alt, Ctrl or ⌘ it is a shortcut of the browser, such as Alt+← for
 * Back, and while a character is being composed, as in Japanese, it is the input method's.
 * @param {KeyboardEvent} event
 */
export const plainKey = ({ key, altKey, ctrlKey, metaKey, isComposing }) => (altKey || ctrlKey || metaKey || isComposing ? '' : key);

/** @param {string} key of a button or what acts as one */
export const presses = (key) => key === 'Enter' || key === ' ';

/**
 * Keyboard navigation over a group of elements with one tab stop (a roving tabindex); Enter opens the focused one.
 * @param {KeyboardEvent} event
 * @param {HTMLElement[]} items
 * @param {(item: HTMLElement) => void} open
 * @param {Movement} movement `alongRow` or `alongColumn`
 */
export function moveAlong(event, items, open, movement = alongRow) {
  const here = items.findIndex((item) => item === document.activeElement);
  const key = plainKey(event);
  const goal = movement(key, here, items.length);
  if (here < 0 || (goal === null && !presses(key))) return;
  event.preventDefault();
  if (goal === null) open(items[here]);
  else if (items[goal]) {
    items[here].tabIndex = -1;
    items[goal].tabIndex = 0;
    items[goal].focus();
  }
}

/**
 * Lets a drawing be read cell by cell: under the pointer, and with the arrow keys while it has the focus.
 * @template Cell
 * @param {HTMLElement | SVGElement} drawing
 * @param {{cellAt: (event: any) => Cell | null, current: () => Cell, beside: (cell: Cell, right: number, down: number) => Cell,
 *   point: (cell: Cell | null) => void, pick: (cell: Cell) => void}} cells `current`: where the arrow keys begin; `beside`: the
 *   cell so many steps away; `point` is told of the one that is read, and `pick` of one that was clicked or entered
 */
export function addCellCursor(drawing, { cellAt, current, beside, point, pick }) {
  const leave = () => point(null);
  drawing.addEventListener('pointermove', (event) => point(cellAt(event)));
  drawing.addEventListener('pointerleave', leave);
  drawing.addEventListener('blur', leave);
  drawing.addEventListener('click', (event) => {
    const cell = cellAt(event);
    if (cell) pick(cell);
  });
  drawing.addEventListener('keydown', (/** @type {any} */ event) => {
    const key = plainKey(event);
    const delta = onPlane(key);
    if (presses(key)) pick(current());
    else if (delta) point(beside(current(), ...delta));
    else return;
    event.preventDefault();
  });
}

/**
 * Let Escape close something that is open, while the focus is in it.
 * @param {HTMLElement} node
 * @param {() => void} close
 * @param {() => boolean} [isOpen]
 */
export function closeOnEscape(node, close, isOpen = () => true) {
  node.addEventListener('keydown', (event) => {
    if (plainKey(event) !== 'Escape' || event.defaultPrevented || !isOpen()) return;
    event.preventDefault(); // it stops nothing else
    close();
  });
}
