/**
 * The head of the page: what it is, and recorded runs that need no model.
 */

import { make } from '../../ui/kit/js/dom.js';

const RECORDED = { chat: 'a conversation', write: 'a story', translate: 'a translation' }; // see web/gallery.py

/** @param {string} foreign the model of the link that the page was opened with, if that doesn't run here; "" for none */
export function makeHeader(foreign) {
  const links = Object.entries(RECORDED).map(([mode, words]) => make('a', { href: `gallery/${mode}.html`, target: '_blank', text: words }));
  return make('header', { class: 'attend-header' },
    make('h1', { text: 'Attend in your browser' }),
    make('p', { class: 'at-quiet', text: 'Two small language models, and how they choose every token. They run in this browser, with weights rounded to 8 bits. What you type never leaves the browser and is lost on a reload, so save what you want to keep.' }),
    make('p', { class: 'at-row at-wrap at-gap-sm at-sm at-quiet at-recorded-files' }, 'Recorded runs, each in a file that needs no model:', ...links),
    ...(foreign ? [make('p', { role: 'status', text: `This link was made with ${foreign}, which doesn’t run here: the model of this page writes other texts.` })] : []));
}
