/**
 * Runs one of our models under Node.js for the tests: reads a folder of `web/export.py` and a file of jobs, and prints for
 * each, on a line, the run document, the tokens as the page draws them, and where the encoder looked. A job with a `branch`
 * goes on behind another token: that candidate of that step.
 */

import { readFileSync } from 'node:fs';

import { answerTokens } from '../../web/decoding/answer_tokens.js';
import { runDocument } from '../../web/decoding/run_document.js';
import { openFolder } from '../../web/node.js';

const [folder, jobs] = process.argv.slice(2);
const engine = await openFolder(folder);
for (const { input, settings, branch } of JSON.parse(readFileSync(jobs, 'utf8'))) {
  let run = write(input, settings);
  for (const [place, candidate] of branch ?? []) {
    const before = runDocument(run);
    run = write({ run: before, place, token: before.steps[place].candidates[candidate].id }, settings);
  }
  console.log(JSON.stringify([runDocument(run), answerTokens(run), engine.encoderHeads]));
}

/** @param {import('../../web/engine.js').Input} input @param {Record<string, any>} settings */
function write(input, settings) {
  const run = engine.start(input, settings);
  for (const _ of engine.steps(run));
  return run;
}
