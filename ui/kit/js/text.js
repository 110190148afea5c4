/**
 * Tokens and numbers as the page writes them: visible white space, percentages, names of filters, and shades.
 */

import { make } from './dom.js';

const MARKS = new Map([[' ', '␣'], ['\n', '↵'], ['\r', '␍'], ['\t', '⇥']]);
// Invisible characters and those that change the text direction are shown as code points, except joiners and tags within a text.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0]/u;
// oxlint-disable-next-line no-misleading-character-class -- the joiners are meant themselves
const JOINER = /[\u200c\u200d\ufe00-\ufe0f\u{e0020}-\u{e007f}\u{e0100}-\u{e01ef}]/u;
const WIDTHLESS = /^(?:(?!\t)[\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])*$/u;
const PLACEHOLDER = '\u25cc'; // ◌, under a mark that has no letter of its own

/** Whether a text has no width, so that nobody could point at it: it is empty or only has marks, joiners or line ends. @param {string} text */
export const isWidthless = (text) => WIDTHLESS.test(text);

/**
 * A token's text with its white space visible, as nodes. In the strip the boxes show where a token starts, so there the one
 * space before a word is a gap (`gap`) instead of a mark.
 * @param {string} text
 * @param {boolean} gap
 * @returns {Node[]}
 */
export function visible(text, gap = false) {
  const nodes = [];
  let plain = '';
  const flush = () => {
    if (plain) nodes.push(document.createTextNode(plain));
    plain = '';
  };
  const mark = (sign) => {
    flush();
    nodes.push(make('span', { class: 'at-mark', text: sign }));
  };
  const characters = [...text];
  const areJoiners = characters.every((character) => JOINER.test(character));
  if (!text) mark(PLACEHOLDER);
  else if (/^\p{M}/u.test(text) && !areJoiners) plain = PLACEHOLDER; // a combining mark needs something to stand on
  characters.forEach((character, index) => {
    const inner = index > 0 && index < characters.length - 1 && character === ' ';
    if (gap && index === 0 && character === ' ' && characters.length > 1 && characters[1] !== ' ') return;
    if (inner && characters[index - 1] !== ' ') plain += ' ';
    else if (MARKS.has(character)) mark(MARKS.get(character));
    else if (JOINER.test(character) ? areJoiners : UNSEEN.test(character)) mark(codePoint(character));
    else plain += character;
  });
  flush();
  return nodes;
}

/** @param {string} text the same as one string, for tooltips and screen readers */
export const visibleText = (text) => visible(text).map((node) => node.textContent).join('');

/** @param {string} character */
const codePoint = (character) => 'U+' + character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

/** @param {string} text @param {boolean} gap a token in its box */
export const tokenChip = (text, gap = false) => make('span', { class: 'at-chip', dir: 'auto' }, ...visible(text, gap));

/**
 * A name, or as much of it as fits.
 * @param {string} name
 * @param {(text: string) => boolean} fits
 */
export function fitting(name, fits) {
  if (fits(name)) return name;
  const letters = [...name];
  const shortened = (length) => `${letters.slice(0, length).join('')}…`;
  let length = letters.length - 1;
  while (length > 1 && !fits(shortened(length))) length -= 1;
  return shortened(length);
}

/**
 * A share as every view writes it: never 0 for more than nothing, and never 100 for less than everything.
 * @param {number} p
 * @param {number} [digits] after the decimal point
 */
export function percent(p, digits = 2) {
  const text = (100 * p).toFixed(digits);
  const least = 10 ** -digits; // the smallest share that can be written
  if (p === 0) return '0\u00a0%';
  if (p > 0 && Number(text) === 0) return `<${least.toFixed(digits)}\u00a0%`;
  if (p < 1 && Number(text) >= 100) return `>${(100 - least).toFixed(digits)}\u00a0%`;
  return `${text}\u00a0%`;
}

/** With a real minus sign, as everywhere on the page. @param {string} number */
export const signed = (number) => number.replaceAll('-', '−');

export const counted = new Intl.NumberFormat('en-GB');

/** @type {Map<string, string>} the labels of a step's stages, by their names; `ui/settings/panel.js` fills it */
export const stageLabels = new Map();

/** A stage in the middle of a sentence: top-k, DRY, repetition penalty. @param {string} stage */
export function stageName(stage) {
  const label = stageLabels.get(stage) ?? stage.replace(/_([a-z])$/, '-$1').replaceAll('_', ' ');
  return /^\p{Lu}\p{Ll}*(?!\p{L})/u.test(label) ? label[0].toLowerCase() + label.slice(1) : label;
}

/**
 * One of eleven shades. The square root spreads the small values: 1 % and 10 % differ about as much as 40 % and 70 %.
 * @param {number} share
 */
export const level = (share) => Math.round(10 * Math.sqrt(Math.min(1, Math.max(0, share))));

/**
 * Shade elements by attention, touching only those that change: each change costs the browser the element's style.
 * @param {HTMLElement[]} nodes
 * @param {number[] | null} levels of each; null for no shading
 */
export function shadeByAttention(nodes, levels) {
  nodes.forEach((node, index) => {
    const shade = levels ? String(levels[index] ?? 0) : undefined;
    if (node.dataset.attention === shade) return;
    if (shade === undefined) delete node.dataset.attention;
    else node.dataset.attention = shade;
  });
}
