/**
 * The course of the page without a server under Node.js, for the tests: reads a folder with its files and its models and a
 * file of questions, and prints each answer on a line.
 */

import { readFileSync } from 'node:fs';

import { Course } from '../../web/course/answers.js';
import { Tokenizer } from '../../web/text/tokenizer.js';

const [folder, questions] = process.argv.slice(2);
const read = async (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8'));
const course = new Course(read, async (model) => new Tokenizer(await read(`${model}/tokenizer`)));
for (const [about, inputs] of JSON.parse(readFileSync(questions, 'utf8'))) {
  console.log(JSON.stringify(await course.answer(about, inputs)));
}
