/**
 * What the views of slots share: how they reach the chapter's input and result.
 *
 * @typedef {{kind: string, [option: string]: any}} Slot as `ui/learn/text/slots.py` declares it
 * @typedef {(string | Record<string, any>)[]} Parts the words of a line, as `ui/learn/text/chapter_text.py` reads them
 * @typedef {{change: (changes: object) => void, restart: () => void, forget: () => void, ask: (inputs: object) => void, latest: (name: string) => any,
 *   value: (name: string) => any, say: (parts: Parts) => Node[], point: (name: string, cell: MatrixCell, caption: string) => void}} Controls
 *   `change` asks with other values; `restart` with the chapter's own; `ask` with a value that counts once; `latest`: an
 *   input as it was sent last, maybe still unanswered; `value`: of the result; `say`: words with the values in them;
 *   `point`: a number is pointed at
 * @typedef {{row: number, column: number, head: number}} MatrixCell
 * @typedef {{name: string, slot: Slot, label: string, cases: Record<string, Parts>, controls: Controls}} SlotWiring what a view
 *   is made with: `label` and `cases`: what stands in the text
 * @typedef {{node: HTMLElement, draw?: (result: any) => void, put?: (input: Record<string, any>) => void, forget?: () => void,
 *   light?: (test: ((cell: MatrixCell) => boolean) | null) => void}} SlotView `put` shows an input; `forget` drops what was
 *   typed and refused
 */

/** A value of a result by its name, in which a dot leads to what is inside. @param {Record<string, any> | null} result @param {string} name */
export const valueOf = (result, name) => (result && Object.hasOwn(result, name) ? result[name]
  : name.split('.').reduce((value, key) => value?.[key], result));

/** A view that every result draws anew. @param {HTMLElement} node @param {(result: any) => (Node | string)[]} parts @returns {SlotView} */
export const redrawn = (node, parts) => ({ node, draw: (result) => node.replaceChildren(...parts(result)) });

/** @param {string} label with values in braces @param {(name: string) => any} value */
export const labelText = (label, value) => label.replace(/\{([\w.]+)\}/g, (_, name) => value(name) ?? '');

/**
 * The names of rows or columns.
 * @param {string | string[]} how as `table` in ui/learn/text/slots.py takes them
 * @param {number} count @param {(name: string) => any} value
 */
export function namesOf(how, count, value) {
  if (Array.isArray(how)) return how;
  if (how === '#' || how === '1') return Array.from({ length: count }, (_, index) => String(index + Number(how === '1')));
  const names = how ? value(how) : null;
  return (typeof names === 'string' ? names.split(' ') : names) ?? Array.from({ length: count }, () => '');
}
