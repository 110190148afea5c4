/**
 * The selects of a layer and a head, or of the average of all, for everything that draws attention.
 */

import { make } from '../../kit/js/dom.js';
import { AVERAGE } from './attention.js';

/**
 * @param {{layer: number, head: number}} choice which they change
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

  /** Offer the layers and heads of a model; a choice that it lacks becomes the average. @param {{layer: number, head: number}} counts */
  function offer(counts) {
    for (const { part, select } of selects) {
      if (choice[part] >= counts[part]) choice[part] = AVERAGE;
      select.disabled = !counts.layer; // a file may have no attention
      if (select.options.length !== counts[part] + 1) {
        select.replaceChildren(make('option', { value: AVERAGE, text: `all ${part}s` }),
          ...Array.from({ length: counts[part] }, (_, i) => make('option', { value: i, text: `${part} ${i + 1}` })));
      }
      select.value = String(choice[part]);
    }
  }

  return { nodes: selects.map(({ select }) => select), offer };
}
