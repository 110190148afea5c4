/**
 * Text to the clipboard, and files to the browser's downloads.
 */

import { iconButton, make } from './dom.js';

/**
 * Put text on the clipboard; through a text area where the browser forbids it otherwise.
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

/** A button with an icon that copies a text. @param {string} name @param {() => string} text */
export function copyButton(name, text) {
  const button = iconButton('copy', name, () => copy(text(), button));
  return button;
}

/** Say something beside a button for as long as it takes to read. @param {HTMLElement} button @param {string} sentence */
export function notify(button, sentence) {
  button.parentElement.querySelector('.at-copied')?.remove();
  const note = make('span', { class: 'at-sm at-quiet at-copied', role: 'status', text: sentence });
  button.after(note);
  setTimeout(() => note.remove(), 1200 + 50 * sentence.length);
}

const MAX_PART = 40; // characters of each part of a file's name
const TYPES = { html: 'text/html;charset=utf-8', json: 'application/json', csv: 'text/csv;charset=utf-8', md: 'text/markdown;charset=utf-8', svg: 'image/svg+xml', png: 'image/png' };

/** @typedef {keyof typeof TYPES} FileType */

/**
 * Hand a file to the browser; none is left on the server.
 * @param {string[]} nameParts words that name its content
 * @param {FileType} type
 * @param {string | Blob} content
 */
export function download(nameParts, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type: TYPES[type] }));
  make('a', { href: address, download: `${fileName(nameParts)}.${type}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/**
 * Hand the file of a reply to the browser, unless the server has refused to make one.
 * @param {[nameParts: string[], content: string] | undefined} file
 * @param {FileType} type
 */
export function downloadReply(file, type) {
  if (file) download(file[0], type, file[1]);
}

/** A file's name, which keeps the beginning of each part. @param {string[]} parts */
export const fileName = (parts) => parts.map(slug).filter(Boolean).join('-') || 'attend';

/** The first words of a text as lower-case letters and digits between hyphens, which any disk and any shell accepts. @param {string} text */
export function slug(text) {
  const plain = text.slice(0, 1000).normalize('NFKD').replace(/[\p{M}'’]/gu, '').toLowerCase();
  const words = plain.replace(/(?<!\d)\.|\.(?!\d)|[^a-z\d.]/g, ' ').trim().replace(/ +/g, '-');
  if (words.length <= MAX_PART) return words;
  const end = words.lastIndexOf('-', MAX_PART);
  return words.slice(0, end > 0 ? end : MAX_PART);
}
