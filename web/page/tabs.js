/**
 * The tabs: one is in sight, and the address names it, as in `#translate`.
 */

import { partOf, whenMoved } from '../../ui/kit/address/address.js';
import { make } from '../../ui/kit/js/dom.js';
import { moveAlong } from '../../ui/kit/js/keys.js';

/**
 * @template {string} Name
 * @param {Name[]} names the first one is shown where the address names none
 * @param {(name: Name, panel: HTMLElement) => void} show called whenever a tab comes into sight
 */
export function makeTabs(names, show) {
  const parts = names.map((name) => {
    const id = name.toLowerCase();
    const tab = make('button', {
      type: 'button', role: 'tab', id: `at-tab-${id}`, 'aria-controls': `at-panel-${id}`, 'data-name': name, text: name,
      onclick: () => { location.hash = id; },
    });
    const panel = make('section', { role: 'tabpanel', class: 'at-stack', id: `at-panel-${id}`, 'aria-labelledby': tab.id }, make('h2', { class: 'at-hidden', text: name }));
    return { name, id, tab, panel };
  });
  const list = make('div', {
    class: 'at-row at-gap-2xs at-alone-tabs', role: 'tablist', 'aria-label': 'Tabs',
    onkeydown: (event) => moveAlong(event, parts.map(({ tab }) => tab), (tab) => tab.click()),
  }, ...parts.map(({ tab }) => tab));

  function follow() {
    const named = location.hash.slice(1) || partOf('tab')?.toLowerCase();
    const chosen = parts.find(({ id }) => id === named) ?? parts[0];
    for (const part of parts) {
      const isChosen = part === chosen;
      part.panel.hidden = !isChosen;
      part.tab.setAttribute('aria-selected', String(isChosen));
      part.tab.tabIndex = isChosen ? 0 : -1;
    }
    show(chosen.name, chosen.panel);
  }

  whenMoved(follow); // there is no hashchange where the settings in the address differ as well
  return { list, panels: parts.map(({ panel }) => panel), follow };
}
