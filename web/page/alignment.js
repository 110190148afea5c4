/**
 * Where a translator looked, from a run: the rows of a document have the keys of the source first, then those of the text.
 */

/** @import { AlignmentValue, HeadsValue } from '../../ui/translate/translate_contract' */

const MOST_DRAWN = 64; // tokens of either text: beyond that no label of a map could be read

/** @param {string} name of the run @param {import('../service.js').Result} result @returns {AlignmentValue} */
export function alignmentOf(name, { document, encoder }) {
  const { source, prompt, ids, labels, special, attention: { layers, heads, rows } } = document;
  const text = [...prompt.ids, ...ids], longest = Math.max(source.length, text.length - 1), first = prompt.ids.length;
  const reason = longest <= MOST_DRAWN ? '' : `The longer text has ${longest} tokens, but attention maps are shown for at most `
    + `${MOST_DRAWN}: translate one sentence at a time to see them.`;
  /** Of each row, some of its keys. @param {(keys: number) => [number, number]} between @returns {HeadsValue} */
  const part = (between) => ({ layers, heads, rows: rows.map((row) => {
    const bytes = atob(row), keys = bytes.length / (layers * heads), [begin, end] = between(keys);
    return btoa(Array.from({ length: layers * heads }, (_, head) => bytes.slice(head * keys + begin, head * keys + end)).join(''));
  }) });
  return {
    run: name, reason, first,
    source: source.map((id) => labels[id]),
    text: text.map((id) => labels[id]),
    controls: source.map((id) => special.includes(id)),
    encoder,
    decoder: part((keys) => [source.length, keys]),
    cross: part(() => [0, source.length]),
  };
}
