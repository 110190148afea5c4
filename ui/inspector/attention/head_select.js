/**
 * The selects of a layer and a head, or of the average of all, for whatever draws attention.
 */

import { make } from '../../kit/js/dom.js';
import { AVERAGE } from './attention.js';

/**
 * @param {{layer: number, head: number}} choice changed by them
 * @param {() => void} onChange
 */
export function makeHeadSelects(choice, onChange) {
  const selects = ['layer', 'head'].map((part) => {
    const name = part === 'layer' ? 'Layer' : 'Head';
    const select = make('select', { 'aria-label': name, title: `One ${part}, or the average of all` });
    select.addEventListener('change', () => {
      choice[part] = Number(select.value);
      onChange();
    });
    return { part, select };
  });

  /** What a model has of them; a choice that it does not have becomes the average. @param {{layer: number, head: number}} counts */
  function offer(counts) {
    for (const { part, select } of selects) {
      if (choice[part] >= counts[part]) choice[part] = AVERAGE;
      select.disabled = !counts.layer; // of a file without attention
      if (select.options.length !== counts[part] + 1) {
        select.replaceChildren(make('option', { value: AVERAGE, text: `all ${part}s` }),
          ...Array.from({ length: counts[part] }, (_, i) => make('option', { value: i, text: `${part} ${i + 1}` })));
      }
      select.value = String(choice[part]);
    }
  }

  return { nodes: selects.map(({ select }) => select), offer };
}
