/**
 * Finds characters whose bytes are spread over several tokens, by the tokens' labels, which write a byte that is no character on
 * its own as `<0xF0>`.
 *
 * @typedef {{from: number, end: number, text: string}} CharacterGroup tokens from … end - 1 together form the text
 */

const PARTS = /<0x([0-9A-F]{2})>|[^]/gu;

/**
 * The number of bytes of the UTF-8 character that begins with this byte; 0 for any other byte, such as an ASCII character.
 * @param {number} byte
 */
function lengthOf(byte) {
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
}

/**
 * The tokens that only together form a character, or several characters if a token ends one and begins the next.
 * @param {{text: string, kind: string}[]} tokens @returns {CharacterGroup[]}
 */
export function characterGroups(tokens) {
  const groups = /** @type {CharacterGroup[]} */ ([]);
  const decoder = new TextDecoder();
  let bytes = /** @type {number[]} */ ([]);
  let from = 0;
  tokens.forEach(({ text: label, kind }, index) => {
    for (const [, hex] of kind === 'control' ? [['', undefined]] : label.matchAll(PARTS)) {
      const byte = hex === undefined ? -1 : parseInt(hex, 16);
      if (bytes.length && byte >> 6 === 0b10) bytes.push(byte);
      else {
        bytes = lengthOf(byte) ? [byte] : [];
        from = index;
      }
      if (!bytes.length || bytes.length < lengthOf(bytes[0])) continue;
      const text = decoder.decode(Uint8Array.from(bytes));
      const before = groups.at(-1);
      if (text.includes('\ufffd') || from === index) { /* not a character after all, or one within a single token */ }
      else if (before && before.end > from) Object.assign(before, { end: index + 1, text: before.text + text });
      else groups.push({ from, end: index + 1, text });
      bytes = [];
    }
  });
  return groups;
}
