/**
 * A model from a folder on disk, under Node.js: for tests and benchmarks.
 */

import { readFileSync } from 'node:fs';

import { Engine } from './engine.js';

/** @param {string} folder that `web/export.py` wrote */
export function openFolder(folder) {
  /** @type {import('./engine.js').Manifest} */
  const manifest = JSON.parse(readFileSync(`${folder}/model.json`, 'utf8'));
  return Engine.of(manifest, Object.fromEntries(manifest.files.map(({ name }) => [name, readFileSync(`${folder}/${name}`)])));
}
