/**
 * The dialog with everything that this browser keeps: open, search, rename or delete entries, save all of them as one file,
 * or turn the history off.
 */

/** @import { Entry, Store } from './store.js' */

import { makeDialog } from '../kit/overlay/dialog.js';
import { iconButton, make, makeButton } from '../kit/js/dom.js';
import { closeOnEscape } from '../kit/js/keys.js';
import { download } from '../kit/js/transfer.js';
import { displayName, exported, imported, importNote, search } from './documents.js';

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const FAILED = 'This browser couldn’t do that: its storage may be full or switched off.';

/**
 * @param {Store} store
 * @param {Record<string, string>} tabs the name of each kind's tab
 * @param {{open: (entry: Entry) => Promise<boolean>, forget: (keys: string[]) => boolean, reopen: (entry: Entry) => Promise<void>,
 *   evict: () => Promise<number>, keep: (isKeeping: boolean) => void}} wiring `open` returns whether the document is in view;
 *   `forget` is called with what was deleted, and returns whether a tab had it in view; `reopen` shows it there again; `evict`
 *   deletes what is over the limits
 */
export function makeList(store, tabs, { open, forget, reopen, evict, keep }) {
  /** @type {Entry[]} */
  let entries = [];
  /** @type {HTMLButtonElement | null} brings back what was deleted last */
  let undo = null;
  let wasInView = false; // whether what was deleted last was in view, in a tab that nothing else can have entered since
  const box = make('input', { type: 'search', class: 'at-text-field', placeholder: 'Search', 'aria-label': 'Search the history', oninput: draw });
  const list = make('ul', { class: 'at-scroll at-md at-kept' });
  const status = make('p', { class: 'at-optional at-kept-status', role: 'status' });
  const file = make('input', { type: 'file', accept: '.json,application/json', hidden: true, onchange: () => act(bring) });
  const stop = make('input', { type: 'checkbox', onchange: () => keep(!stop.checked) });
  const save = makeButton('Export all', () => act(exportAll));
  const all = makeButton('Delete everything', confirm);
  const dialog = makeDialog('attend-history-dialog', 'History',
    make('p', { class: 'at-md at-quiet', text: 'Saved only in this browser, never on the server.' }), box, list, status,
    make('div', { class: 'at-row at-wrap at-md at-kept-tools' }, save, makeButton('Import', () => file.click()), all, file,
      make('label', { class: 'at-end' }, stop, ' Stop saving')));

  /** Do something with the store, and say what went wrong. @param {() => Promise<unknown>} work */
  async function act(work) {
    status.replaceChildren();
    try {
      await work();
    } catch (/** @type {any} */ error) {
      report(error instanceof DOMException ? FAILED : error.message);
    }
    await refresh();
  }

  async function refresh() {
    entries = await store.list();
    draw();
  }

  function draw() {
    const matches = search(entries, box.value);
    list.replaceChildren(...matches.map(row));
    if (!matches.length) list.append(make('li', { class: 'at-quiet', text: entries.length ? 'No matches.' : 'Nothing saved yet.' }));
    save.disabled = all.disabled = !entries.length;
  }

  /** @param {Entry} entry */
  function row(entry) {
    const name = displayName(entry);
    const item = make('li', { class: 'at-row at-gap-xs' },
      make('button', { type: 'button', class: 'at-grow at-option at-kept-open', dir: 'auto', onclick: () => act(() => show(entry)) },
        make('b', { class: 'at-ellipsis', text: name }),
        make('span', { class: 'at-sm at-quiet', text: [tabs[entry.kind], entry.model, WHEN.format(entry.changed)].join(' · ') })),
      iconButton('edit', `Rename “${name}”`, () => rename(item, entry)),
      iconButton('remove', `Delete “${name}”`, () => act(() => remove(entry))));
    return item;
  }

  /** @param {Entry} entry */
  async function show(entry) {
    if (await open(entry)) dialog.close();
    else report('Couldn’t open this. It may have been deleted in another tab.');
  }

  /** @param {HTMLElement} item @param {Entry} entry */
  function rename(item, entry) {
    const field = make('input', { type: 'text', class: 'at-text-field at-grow', value: displayName(entry), 'aria-label': 'New name', maxlength: 200 });
    const form = make('form', { class: 'at-row at-wrap at-grow at-md' }, field, make('button', { type: 'submit', class: 'at-plain', text: 'Rename' }));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      act(() => store.rename(entry.key, field.value.trim()));
    });
    closeOnEscape(form, draw);
    item.replaceChildren(form);
    field.select();
  }

  /** @param {Entry} entry */
  async function remove(entry) {
    const deleted = await store.read(entry.key);
    await store.remove([entry.key]);
    wasInView = forget([entry.key]);
    undo = makeButton('Undo', () => act(async () => {
      await store.write(deleted.entry, deleted.document, deleted.entry.revision - 1);
      await refresh();
      if (wasInView) await reopen(entry);
    }));
    status.replaceChildren(`Deleted “${displayName(entry)}” `, ...(deleted ? [undo] : []));
  }

  /** Everything goes only after a second click. */
  function confirm() {
    const sure = makeButton(entries.length === 1 ? 'Delete it' : `Delete all ${entries.length}`, () => act(async () => {
      const keys = entries.map(({ key }) => key);
      await store.remove(keys);
      forget(keys);
      report('Everything was deleted.');
    }));
    status.replaceChildren('This can’t be undone. ', sure, makeButton('Cancel', () => report('')));
    sure.focus();
  }

  async function exportAll() {
    const saved = await Promise.all(entries.map(({ key }) => store.read(key)));
    download(['attend history'], 'json', exported(saved));
    const missing = saved.filter((each) => !each).length;
    if (missing) report(`Saved without ${missing} of ${saved.length} entries, which this browser can’t read.`);
  }

  async function bring() {
    const [chosen] = file.files;
    file.value = '';
    const documents = imported(await chosen.text(), Object.keys(tabs));
    const known = new Set(entries.map(({ key }) => key));
    const fresh = documents.filter(({ entry }) => !known.has(entry.key));
    for (const { entry, document } of fresh) await store.write(entry, document, 0);
    report(importNote({ added: fresh.length, known: documents.length - fresh.length, evicted: await evict() }));
  }

  /** @param {string} sentence */
  function report(sentence) {
    status.textContent = sentence;
  }

  /** @param {boolean} isKeeping */
  async function present(isKeeping) {
    stop.checked = !isKeeping;
    box.value = '';
    if (!undo?.isConnected) report(''); // what was deleted before the dialog was closed can still be brought back to the list
    wasInView = false;
    await refresh();
    dialog.showModal();
  }

  return { node: dialog, present };
}
