/**
 * SentencePiece's rules for sentences: one kind of quotes, accents and spaces, and no space that is not between words.
 */

/** A text as a pattern that matches it alone. @param {string} text */
const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/**
 * @param {Record<string, string>} rules what is replaced, and by what
 * @returns {(text: string) => string} with one space before each word
 */
export function makeNormalizer(rules) {
  const longestFirst = Object.keys(rules).toSorted((a, b) => b.length - a.length);
  const pattern = longestFirst.length ? new RegExp(longestFirst.map(escaped).join('|'), 'gu') : /(?!)/g;
  return (text) => {
    const words = text.replace(pattern, (match) => rules[match]).split(' ').filter(Boolean);
    return words.map((word) => ` ${word}`).join('');
  };
}
