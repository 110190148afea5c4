/** Conditions on results under Node.js, for the tests: reads a file with a result and lists of checks, and prints which of them hold. */

import { readFileSync } from 'node:fs';

import { fulfilled } from '../../web/course/exercises.js';

const { result, conditions } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
console.log(JSON.stringify(conditions.map((checks) => fulfilled(checks, result))));
