/**
 * Runs one of our models under Node.js for the tests: reads a folder of `web/export.py` and a file of jobs, and prints one
 * run document a line.
 */

import { readFileSync } from 'node:fs';

import { openFolder } from '../../web/node.js';

const [folder, jobs] = process.argv.slice(2);
const engine = await openFolder(folder);
for (const { input, settings } of JSON.parse(readFileSync(jobs, 'utf8'))) {
  console.log(JSON.stringify(engine.run(input, settings)));
}
