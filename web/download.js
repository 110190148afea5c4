/**
 * The files of a model: streamed, kept in the browser's cache, and checked against the SHA-256 in `model.json`.
 */

/** @typedef {import('./engine.js').Manifest} Manifest */
/** @typedef {(loaded: number, total: number) => void} OnProgress in bytes */

const CACHE = 'attend-models';

/**
 * A model's manifest and its files by their names.
 * @param {string} folder the address of what `web/export.py` wrote, with a slash at its end
 * @param {OnProgress} [onProgress]
 * @param {string[] | null} [wanted] those of the files that are needed; null: all
 */
export async function downloadModel(folder, onProgress, wanted = null) {
  /** @type {Manifest} */
  const manifest = await (await fetched(`${folder}model.json`)).json();
  const needed = manifest.files.filter(({ name }) => wanted?.includes(name) ?? true);
  const total = needed.reduce((sum, { bytes }) => sum + bytes, 0);
  let loaded = 0;
  const files = await Promise.all(needed.map(async (file) => {
    const content = await downloadFile(folder, file, (bytes) => onProgress?.(loaded += bytes, total));
    return /** @type {const} */ ([file.name, content]);
  }));
  return { manifest, files: Object.fromEntries(files) };
}

/** @param {string} folder @param {Manifest['files'][number]} file @param {(bytes: number) => void} onPart gets those of each part */
async function downloadFile(folder, file, onPart) {
  const address = `${folder}${file.name}?${file.sha256.slice(0, 16)}`; // another version has another address
  const cache = await globalThis.caches?.open(CACHE).catch(() => null); // none without a secure connection
  const kept = await cache?.match(address);
  if (kept) {
    const content = new Uint8Array(await kept.arrayBuffer());
    if (await isIntact(content, file)) {
      onPart(content.length);
      return content;
    }
  }
  const content = await streamed(await fetched(address), file.bytes, onPart);
  if (!(await isIntact(content, file))) throw new Error(`${file.name} arrived damaged: load the model again.`);
  if (cache) keep(cache, address, content).catch(() => {}); // the disk may be full
  return content;
}

/** In the place of other versions. @param {Cache} cache @param {string} address @param {Uint8Array} content */
async function keep(cache, address, content) {
  await cache.delete(address, { ignoreSearch: true });
  await cache.put(address, new Response(/** @type {Uint8Array<ArrayBuffer>} */ (content)));
}

/** @param {string} address */
async function fetched(address) {
  const response = await fetch(address).catch((error) => { throw new Error(`${address} can't be loaded (${error.message}): check the connection.`); });
  if (!response.ok) throw new Error(`${address} can't be loaded (${response.status} ${response.statusText}).`);
  return response;
}

/** @param {Response} response @param {number} bytes that are expected @param {(bytes: number) => void} onPart */
async function streamed(response, bytes, onPart) {
  const content = new Uint8Array(bytes), reader = response.body.getReader();
  let loaded = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (loaded + part.value.length > bytes) return new Uint8Array(); // another file
    content.set(part.value, loaded);
    loaded += part.value.length;
    onPart(part.value.length);
  }
  return content.subarray(0, loaded);
}

/**
 * Its length and, where the connection is secure, so that the browser has the function, its SHA-256.
 * @param {Uint8Array} content
 * @param {Manifest['files'][number]} file
 */
async function isIntact(content, { bytes, sha256 }) {
  if (content.length !== bytes) return false;
  if (!globalThis.crypto?.subtle) return true;
  const digest = await crypto.subtle.digest('SHA-256', /** @type {Uint8Array<ArrayBuffer>} */ (content));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('') === sha256;
}
