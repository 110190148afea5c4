import assert from 'node:assert/strict';
import test from 'node:test';

import { asCsv, asJson, asMarkdown } from '../../../ui/chat/transcript.js';

/** @import { TurnValue } from '../../../ui/runs/runs_contract' */

/** @type {Omit<TurnValue, 'role' | 'text' | 'tokens'>} */
const common = { run: null, state: 'done', dropped: false, note: null, model: '', unfinished: false, version: 0, versions: [0, 1] };
/** @type {TurnValue[]} */
const TURNS = [
  { ...common, role: 'user', text: 'Say "hi",\nplease', tokens: null },
  { ...common, role: 'assistant', text: 'Hi, you', tokens: [{ text: 'Hi', probability: 0.5 }, { text: ', "', probability: 1e-7 }] },
];

test('Markdown names who speaks', () => {
  assert.equal(asMarkdown(TURNS), '**User**\n\nSay "hi",\nplease\n\n**Assistant**\n\nHi, you\n');
});

test('JSON is what /chat takes as history, with the tokens of the answers', () => {
  assert.deepEqual(JSON.parse(asJson(TURNS)), [
    { role: 'user', content: 'Say "hi",\nplease' },
    { role: 'assistant', content: 'Hi, you', tokens: [{ text: 'Hi', probability: 0.5 }, { text: ', "', probability: 1e-7 }] },
  ]);
});

test('a token without a text, such as the end token, is called by its label', () => {
  const ended = /** @type {TurnValue} */ ({
    ...TURNS[1], tokens: [{ text: 'Hi', probability: 0.5 }, { text: '', probability: 0.25, label: '<|im_end|>' }],
  });
  assert.deepEqual(JSON.parse(asJson([ended]))[0].tokens[1], { text: '<|im_end|>', probability: 0.25 });
  assert.match(asCsv([ended]), /\n1,assistant,2,"""<\|im_end\|>""",0\.25\n$/);
});

test('CSV has a row for each token, and no text in it begins like a formula', () => {
  const formula = /** @type {TurnValue} */ ({ ...common, role: 'user', text: '=1+1', tokens: null });
  assert.equal(asCsv([...TURNS, formula]), String.raw`message,role,token,text,probability
1,user,,"""Say \""hi\"",\nplease""",
2,assistant,1,"""Hi""",0.5
2,assistant,2,""", \""""",1e-7
3,user,,"""=1+1""",
`);
});
