/**
 * The recorded files of the course, which are fetched when it is opened and kept in the browser's cache.
 */

const CACHE = 'attend-course';
const FOLDER = new URL('../../../course/', import.meta.url).href;

/** @param {{files: string[], version: string}} course the names of its files */
export function courseFiles({ files, version }) {
  /** @type {Map<string, Promise<any>>} those that were opened */
  const opened = new Map();
  const addressOf = (/** @type {string} */ name) => `${FOLDER}${name}.json?${version}`;

  /** @param {string} name */
  async function fetched(name) {
    const cache = await keeper(), kept = await cache?.match(addressOf(name));
    if (kept) return kept.json();
    const response = await fetch(addressOf(name)).catch(() => null), copy = response?.clone();
    const content = response?.ok ? await response.json().catch(() => null) : null; // a network may answer with a page to sign in
    if (!content) throw new Error('This part of the course couldn’t be loaded: check the connection, then open it again.');
    await cache?.put(addressOf(name), copy).catch(() => {}); // the disk may be full
    return content;
  }

  /** @param {string} name */
  function open(name) {
    if (!opened.has(name)) opened.set(name, fetched(name));
    const file = opened.get(name);
    file.catch(() => opened.delete(name)); // so that it is tried again
    return file;
  }

  /** Keep the whole course for visits without a network, and drop what an earlier version has left. */
  async function keepAll() {
    const cache = await keeper(), current = files.map(addressOf);
    for (const { url } of await cache?.keys() ?? []) if (!current.includes(url)) await cache.delete(url);
    for (const name of files) await open(name); // one after the other, behind what is being read
  }

  return { open, keepAll };
}

/** The cache; null without a secure connection. */
const keeper = async () => globalThis.caches?.open(CACHE).catch(() => null) ?? null;
