/**
 * Times a model of `web/` under Node.js, for `python -m benchmarks.web`: prints, as one JSON line, the seconds that each kind of
 * settings takes in every round, after one warm-up round.
 */

import { openFolder } from '../../web/node.js';

const [folder, job] = process.argv.slice(2);
/** @type {{input: string, rounds: number, contenders: Record<string, any>}} */
const { input, rounds, contenders } = JSON.parse(job);
const engine = await openFolder(folder);
const seconds = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
for (let round = 0; round <= rounds; round++) {
  for (const [name, settings] of Object.entries(contenders)) {
    const begun = performance.now(), run = engine.start(input, settings);
    let steps = 0;
    for (const step of engine.steps(run)) if (step) steps++;
    if (steps !== settings.max_new_tokens) throw new Error(`${name} made ${steps} tokens, not ${settings.max_new_tokens}.`);
    if (round) seconds[name].push((performance.now() - begun) / 1000);
  }
}
console.log(JSON.stringify(seconds));
