import assert from 'node:assert/strict';
import test from 'node:test';

import { matches } from '../../../ui/settings/search.js';

const TOP_K = { name: 'top_k', label: 'Top-k', help: 'Keeps only the k most probable tokens; 0 keeps all.', section: '' };
const DRY = { name: 'dry_base', label: 'DRY base', help: 'How fast its penalty grows.', section: 'Less repetition' };

test('a setting is found by its name however it is spelt, and by words of its explanation or section', () => {
  for (const query of ['top k', 'top-k', 'TOP_K', 'topk', 'probable tokens', 'keep', '']) assert.ok(matches(TOP_K, query));
  for (const query of ['fast penalty', 'repetition', 'dry']) assert.ok(matches(DRY, query));
  for (const query of ['top p', 'temperature', 'probable seed', 't k']) assert.ok(!matches(TOP_K, query));
});
