/**
 * Text to the clipboard, and files to the browser's downloads.
 */

import { make } from './dom.js';

/**
 * Put text on the clipboard; where the page may not, through a text area.
 * @param {string} text
 * @param {HTMLElement} button says "Copied" for a moment
 * @param {string} [limits] what was not copied, in words
 */
export async function copy(text, button, limits = '') {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make('textarea', { class: 'at-hidden' });
    area.value = text;
    button.after(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    button.focus();
  }
  notify(button, `Copied${limits}`);
}

/** Say something beside a button for as long as it takes to read. @param {HTMLElement} button @param {string} sentence */
export function notify(button, sentence) {
  button.parentElement.querySelector('.at-copied')?.remove();
  const note = make('span', { class: 'at-sm at-quiet at-copied', role: 'status', text: sentence });
  button.after(note);
  setTimeout(() => note.remove(), 1200 + 50 * sentence.length);
}

const MAX_PART = 40; // characters of each part of a file's name
const TYPES = { json: 'application/json', csv: 'text/csv;charset=utf-8', md: 'text/markdown;charset=utf-8' };

/** @typedef {keyof typeof TYPES} FileType */

/**
 * Hand a file to the browser; none is left on the server.
 * @param {string[]} holds what is in it, in words: its name
 * @param {FileType} type
 * @param {string} content
 */
export function download(holds, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type: TYPES[type] }));
  make('a', { href: address, download: `${fileName(holds)}.${type}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** @param {string[]} parts of a file's name, which keeps the beginning of each */
export const fileName = (parts) => parts.map(slug).filter(Boolean).join('-') || 'attend';

/** The first words of a text as small letters and digits between hyphens, which any disk and any shell takes. @param {string} text */
export function slug(text) {
  const plain = text.slice(0, 1000).normalize('NFKD').replace(/[\p{M}'’]/gu, '').toLowerCase();
  const words = plain.replace(/(?<!\d)\.|\.(?!\d)|[^a-z\d.]/g, ' ').trim().replace(/ +/g, '-');
  if (words.length <= MAX_PART) return words;
  const end = words.lastIndexOf('-', MAX_PART);
  return words.slice(0, end > 0 ? end : MAX_PART);
}
