/** Keeps the page in the browser's cache, so that it also opens without a network. `web/static.py` writes VERSION and FILES. */

const VERSION = '';
const FILES = [''];
const scope = /** @type {any} */ (self);

scope.addEventListener('install', (/** @type {any} */ event) => {
  event.waitUntil(caches.open(`attend-${VERSION}`).then((cache) => cache.addAll(FILES)).then(() => scope.skipWaiting()));
});
scope.addEventListener('activate', (/** @type {any} */ event) => {
  const isOld = (/** @type {string} */ name) => /^attend-[0-9a-f]+$/.test(name) && name !== `attend-${VERSION}`;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name)))));
});
scope.addEventListener('fetch', (/** @type {any} */ event) => {
  const ignoreSearch = event.request.mode === 'navigate'; // a link brings settings
  event.respondWith(caches.match(event.request, { ignoreSearch }).then((kept) => kept ?? fetch(event.request)));
});
