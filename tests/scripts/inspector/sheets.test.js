import assert from 'node:assert/strict';
import test from 'node:test';

import { tokenSheet } from '../../../ui/inspector/sheets.js';
import { named } from '../../../ui/inspector/step.js';

const CHOSEN = named({
  id: 7, origin: 'chosen', rank: 2, draw: null, stages: ['model'], kept: [9], mass: [1], entropy: [1.5], rest: [0.1],
  candidates: [{ id: 3, probabilities: [0.6] }, { id: 7, probabilities: [0.3] }],
}, { 3: ' a', 7: ' the' });

test('a token whose step was left out has an empty row', () => {
  const steps = [];
  steps[3] = CHOSEN; // of a long text, the first steps are sent when they are asked for
  assert.deepEqual(tokenSheet(steps, 1).rows, [
    [1, '', '', '', '', '', ''], [2, '', '', '', '', '', ''], [3, '" the"', 0.3, 2, 1.5, '" a"', 0.6],
  ]);
});
