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
  const note = make('span', { class: 'at-copied', role: 'status', text: sentence });
  button.after(note);
  setTimeout(() => note.remove(), 1200 + 50 * sentence.length);
}

const TYPES = { json: 'application/json', csv: 'text/csv;charset=utf-8', md: 'text/markdown;charset=utf-8' };

/** Hand a file to the browser; none is left on the server. @param {string} name @param {string} content */
export function download(name, content) {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  const address = URL.createObjectURL(new Blob([content], { type }));
  make('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
