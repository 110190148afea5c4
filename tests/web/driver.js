/**
 * Runs our models under Node.js for the tests: reads a folder of `web/export.py` and a file of jobs, prints one run
 * document a line.
 */

import { readFileSync } from 'node:fs';

import { Engine } from '../../web/engine.js';

const [folder, jobs] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(`${folder}/model.json`, 'utf8'));
const files = Object.fromEntries(manifest.files.map(({ name }) => [name, new Uint8Array(readFileSync(`${folder}/${name}`))]));
const engine = await Engine.of(manifest, files);
for (const { input, settings } of JSON.parse(readFileSync(jobs, 'utf8'))) {
  console.log(JSON.stringify(engine.run(input, settings)));
}
