/**
 * Documents in the visitor's own browser (IndexedDB). Each has an entry, small enough to list all of them, and the
 * document itself. Knows nothing of the page.
 */

/** @import { DocumentValue } from './history_contract' */

/**
 * @typedef {{key: string, kind: string, title: string, name: string, model: string, changed: number, revision: number,
 *   size: number}} Entry `name` is given by hand, "" for none; `changed` in ms since 1970; `size` in bytes
 */

const ENTRIES = 'entries';
const DOCUMENTS = 'documents';

/** @param {IDBFactory} factory @returns {Promise<IDBDatabase>} */
function connect(factory) {
  const request = factory.open('attend', 1);
  request.addEventListener('upgradeneeded', () => {
    for (const name of [ENTRIES, DOCUMENTS]) request.result.createObjectStore(name, { keyPath: 'key' });
  });
  return done(request);
}

/** Opens the store; fails where the browser forbids it. @param {IDBFactory} factory */
export async function openStore(factory = indexedDB) {
  let database = await connect(factory);

  /** @param {IDBTransactionMode} mode */
  const begin = async (mode) => {
    const names = [ENTRIES, DOCUMENTS];
    let transaction;
    try {
      transaction = database.transaction(names, mode);
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'InvalidStateError')) throw error;
      database = await connect(factory); // the browser had closed it: the visitor cleared the data of sites
      transaction = database.transaction(names, mode);
    }
    return { transaction, entries: transaction.objectStore(ENTRIES), documents: transaction.objectStore(DOCUMENTS) };
  };

  return {
    /** All entries. @returns {Promise<Entry[]>} */
    list: async () => done((await begin('readonly')).entries.getAll()),

    /**
     * An entry and its document; null if there is none, or if the browser can no longer read it, as after a crash.
     * @param {string} key
     * @returns {Promise<{entry: Entry, document: DocumentValue} | null>}
     */
    async read(key) {
      const { entries, documents } = await begin('readonly');
      const [entry, document] = await Promise.all([done(entries.get(key)), done(documents.get(key))]).catch(() => []);
      return entry && document ? { entry, document } : null;
    },

    /** Rename a document, which doesn't count as a change. @param {string} key @param {string} name */
    async rename(key, name) {
      const { transaction, entries } = await begin('readwrite');
      const entry = await done(entries.get(key));
      if (entry) entries.put({ ...entry, name });
      await completed(transaction);
    },

    /**
     * Write a document, unless another tab of the browser has written it since.
     * @param {Omit<Entry, 'revision'>} entry
     * @param {DocumentValue} document
     * @param {number} revision that the caller knows: 0 for a new one
     * @returns {Promise<number | null>} the new revision; null if the stored one isn't the one that the caller knows
     */
    async write(entry, document, revision) {
      const { transaction, entries, documents } = await begin('readwrite');
      const before = await done(entries.get(entry.key));
      if (before && before.revision !== revision) return null;
      entries.put({ ...entry, revision: revision + 1 });
      documents.put(document);
      await completed(transaction);
      return revision + 1;
    },

    /** @param {string[]} keys */
    async remove(keys) {
      const { transaction, entries, documents } = await begin('readwrite');
      for (const key of keys) {
        entries.delete(key);
        documents.delete(key);
      }
      await completed(transaction);
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof openStore>>} Store */

/** @template Result @param {IDBRequest<Result>} request @returns {Promise<Result>} */
const done = (request) => new Promise((resolve, reject) => {
  request.addEventListener('success', () => resolve(request.result));
  request.addEventListener('error', () => reject(request.error));
});

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
const completed = (transaction) => new Promise((resolve, reject) => {
  transaction.addEventListener('complete', () => resolve());
  transaction.addEventListener('abort', () => reject(transaction.error)); // as every error ends
});
