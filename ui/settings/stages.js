/**
 * The order of the filters, a setting: their names, separated by commas.
 */

/** @param {string} order */
export const stageNames = (order) => order.split(',').map((name) => name.trim()).filter(Boolean);

/**
 * All stages in an order that may name only some of them: these take each other's places, and the others keep theirs.
 * @param {string[]} all in the usual order
 * @param {string} order
 */
export function stagesInOrder(all, order) {
  const named = [...new Set(stageNames(order))].filter((stage) => all.includes(stage));
  const next = named.values();
  return all.map((stage) => (named.includes(stage) ? next.next().value : stage));
}

/**
 * The order after a stage has changed places with a neighbour among the active ones.
 * @param {string[]} order of all
 * @param {string[]} on
 * @param {string} stage
 * @param {1 | -1} by
 */
export function movedStage(order, on, stage, by) {
  const other = on[on.indexOf(stage) + by];
  const swapped = { [stage]: other, [other]: stage };
  return order.map((name) => swapped[name] ?? name);
}
