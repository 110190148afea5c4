import assert from 'node:assert/strict';
import test from 'node:test';

import { addressInBrowser } from '../../../ui/models/in_browser.js';

const BASE = 'https://example.org/attend/';
const addressOf = (search, tab, text) => addressInBrowser(BASE, `${BASE}${search}`, tab, text).slice(BASE.length);

test('the page in the browser opens with the settings, the tab and the text of this one', () => {
  assert.equal(addressOf('?tab=Write&temperature=0.9&model=attend-chat', 'Write', 'The dog'), 'in-browser/?temperature=0.9&prompt=The+dog#write');
  assert.equal(addressOf('?tab=Learn&chapter=heads&prompt=before', 'Learn', ''), 'in-browser/');
  assert.equal(addressOf('', 'Chat', 'x'.repeat(2001)), 'in-browser/#chat'); // too long for a link
});
