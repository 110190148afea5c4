/**
 * The part of the map's rows that is in sight: a window of 64, which moves with the selection and is always full.
 */

export const WINDOW = 64; // rows; of more, thinner ones could not be told apart

/** The height of a row where so many share a height: all of them, or a window of them. @param {number} height @param {number} rows */
export const rowHeight = (height, rows) => height / Math.min(WINDOW, rows);

/**
 * How far the rows are scrolled for one of them to be in sight: no further than necessary, so that the newest is the last
 * row of a full window and its neighbours stay where they are.
 * @param {{row: number, rows: number, size: number, top: number, height: number}} about which row of how many, each of which
 *   size, scrolled how far now, in how much height
 */
export function scrolledTo({ row, rows, size, top, height }) {
  const furthest = Math.max(0, Math.ceil(rows * size) - height);
  const nearest = Math.min(row * size, Math.max(top, (row + 1) * size - height));
  return Math.min(furthest, Math.max(0, nearest));
}
