/**
 * A translation's run document as the value of the view of its alignment, as ui/translate/alignment.py makes it on the server,
 * but without the encoder's attention, which no run document has.
 */

/** @import { RunDocument } from '../../decoding/run/run_document' */
/** @import { AlignmentValue, HeadsValue } from '../translate/translate_contract' */

const MAX_DRAWN = 64; // tokens of either text: beyond that no label of a map could be read

/** @param {RunDocument} run @param {string} name @returns {AlignmentValue} */
export function alignmentValue({ source = [], prompt, ids, steps, labels, special = [], attention }, name) {
  const text = [...prompt.ids, ...ids];
  const longest = Math.max(source.length, text.length - 1);
  const reason = !attention ? 'This file has no attention.'
    : longest > MAX_DRAWN ? `The longer text has ${longest} tokens, but the alignment is shown for at most ${MAX_DRAWN}.` : '';
  const { cross, decoder } = reason ? { cross: null, decoder: null } : split(attention, source.length);
  return {
    run: name,
    reason,
    source: source.map((id) => labels[id]),
    text: text.map((id) => labels[id]),
    first: text.length - steps.length,
    controls: source.map((id) => special.includes(id)),
    encoder: null,
    decoder,
    cross,
  };
}

/**
 * The attention to the source and that to the text before, of rows that have both.
 * @param {RunDocument['attention']} attention @param {number} source tokens
 * @returns {{cross: HeadsValue, decoder: HeadsValue}}
 */
function split({ layers, heads, rows }, source) {
  const cut = (/** @type {boolean} */ isSource) => rows.map((row) => {
    const bytes = atob(row); // (layers, heads, keys)
    const keys = bytes.length / (layers * heads);
    const parts = Array.from({ length: layers * heads }, (_, head) =>
      bytes.slice(head * keys + (isSource ? 0 : source), isSource ? head * keys + source : (head + 1) * keys));
    return btoa(parts.join(''));
  });
  return { cross: { layers, heads, rows: cut(true) }, decoder: { layers, heads, rows: cut(false) } };
}
