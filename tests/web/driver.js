/**
 * Runs one of our models under Node.js for the tests: reads a folder of `web/export.py` and a file of jobs, and prints for
 * each, on a line, the run document, the tokens as the page draws them, and where the encoder looked.
 */

import { readFileSync } from 'node:fs';

import { answerTokens } from '../../web/decoding/answer_tokens.js';
import { runDocument } from '../../web/decoding/document.js';
import { openFolder } from '../../web/node.js';

const [folder, jobs] = process.argv.slice(2);
const engine = await openFolder(folder);
for (const { input, settings } of JSON.parse(readFileSync(jobs, 'utf8'))) {
  const run = engine.start(input, settings);
  for (const _ of engine.steps(run));
  console.log(JSON.stringify([runDocument(run), answerTokens(run), engine.encoderHeads]));
}
