/* The switch goes where an answer puts it, if it still stands where it stood when that was asked for, or at an entry that
 * there is no more. Whoever has clicked on meanwhile is not moved back: the answer to that click comes. */
(move, mode) => {
  if (!move) return mode;
  const { stood, to, entries } = move;
  const update = { __type__: 'update' };
  if (entries) update.choices = entries.map((entry) => [entry, entry]);
  if (mode === stood || entries?.includes(mode) === false) update.value = to;
  return update;
}
