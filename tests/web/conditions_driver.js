/** The conditions of the course's exercises under Node.js, for the tests: reads a file of cases, and prints what each says. */

import { readFileSync } from 'node:fs';

import { CONDITIONS } from '../../web/course/conditions.js';

console.log(JSON.stringify(JSON.parse(readFileSync(process.argv[2], 'utf8')).map(({ chapter, exercise, result, file }) =>
  Object.fromEntries(Object.entries(CONDITIONS[chapter][exercise]).map(([name, holds]) => [name, Boolean(holds(result, file))])))));
