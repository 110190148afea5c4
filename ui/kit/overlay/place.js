/**
 * The position of a bubble that points at something: a step of the tour, or a term of the glossary.
 *
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box in the window, in pixels
 * @typedef {{width: number, height: number}} Size
 */

export const GAP = 14; // pixels between the bubble and what it points at
export const EDGE = 8; // pixels between the bubble and the edge of the window

const SIDES = /** @type {const} */ (['below', 'above', 'right', 'left']);

/**
 * The bubble stands beside the box, on the side with enough room where it covers the fewest wanted things. If no side has enough
 * room, it lies over the box at the window's lower edge.
 * @param {Box} box what the bubble points at
 * @param {Size} bubble
 * @param {Size} view the window
 * @param {Box[]} wanted what else the visitor may want to see
 */
export function place(box, bubble, view, wanted = []) {
  const room = { below: view.height - box.bottom, above: box.top, right: view.width - box.right, left: box.left };
  const needed = { below: bubble.height, above: bubble.height, right: bubble.width, left: bubble.width };
  const possible = SIDES.filter((side) => room[side] >= needed[side] + GAP + EDGE).map((side) => ({ side, ...spot(side) }));
  const covered = ({ x, y }) => wanted.filter(({ left, top, right, bottom }) =>
    x < right && left < x + bubble.width && y < bottom && top < y + bubble.height).length;
  return possible.toSorted((one, other) => covered(one) - covered(other))[0] ?? { side: 'over', ...spot('over') };

  /** @param {typeof SIDES[number] | 'over'} side */
  function spot(side) {
    const x = { right: box.right + GAP, left: box.left - GAP - bubble.width }[side] ?? (box.left + box.right - bubble.width) / 2;
    const y = { below: box.bottom + GAP, above: box.top - GAP - bubble.height, over: view.height }[side] ?? box.top;
    return { x: within(x, view.width - bubble.width), y: within(y, view.height - bubble.height) };
  }
}

/** @param {number} offset @param {number} most */
const within = (offset, most) => Math.max(EDGE, Math.min(offset, most - EDGE));
