import assert from 'node:assert/strict';
import test from 'node:test';

import { csv, markdown } from '../../../ui/kit/js/data.js';

test('a table of Markdown has as many columns in every line, and its texts are only text', () => {
  const sheet = { title: 'Tokens', head: ['number', 'token', 'p'], rows: [[1, '" a|b"', 0.123456], [2, '"<b>*x*\\n"', 1]] };
  assert.deepEqual(markdown(sheet).split('\n'), [
    '| number | token | p |', '| ---: | --- | ---: |', '| 1 | " a\\|b" | 0.1235 |', '| 2 | "\\<b\\>\\*x\\*\\\\n" | 1 |', '',
  ]);
});

test('CSV quotes what would end a cell, and doubles the quotes in it', () => {
  assert.equal(csv({ title: 't', head: ['id', 'token'], rows: [[1, '","'], [2, 'a\nb'], [3, 'plain']] }),
    'id,token\n1,""","""\n2,"a\nb"\n3,plain\n');
});
