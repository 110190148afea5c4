/* The switch has the entries of the model that is there, and goes where an answer puts it if it still stands where it stood
 * when that was asked for, or at an entry that there is no more. Whoever has clicked on meanwhile is not moved back: the
 * answer to that click comes. */
(move, mode) => {
  const update = { __type__: 'update' };
  if (!move || move.number <= (window.attendMoved ?? 0)) return update; // done already
  window.attendMoved = move.number;
  const { stood, to, entries } = move;
  const there = [...document.querySelectorAll('#attend-mode input')].map((input) => input.value);
  if (String(entries) !== String(there)) update.choices = entries.map((entry) => [entry, entry]);
  if (mode === stood || !entries.includes(mode)) update.value = to;
  return update;
}
