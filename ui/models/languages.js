/**
 * The languages that a translator translates from and into. Their names come from the browser, in English like the page.
 */

/** @import { LanguagesValue } from './models_contract' */

import { find } from '../kit/js/dom.js';
import { followValue } from '../kit/js/values.js';

const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** @param {import('../kit/js/gradio').Component} component */
export function start(component) {
  const { element, trigger } = component;
  const box = find(element, '.attend-languages');
  const source = find(element, '.at-source', HTMLSelectElement);
  const target = find(element, '.at-target', HTMLSelectElement);
  const swap = find(element, '.at-swap', HTMLButtonElement);
  let drawnKey = '';

  followValue(component, (/** @type {LanguagesValue} */ value) => {
    const key = JSON.stringify(value);
    if (key === drawnKey) return; // an open list stays open while a model is loading
    drawnKey = key;
    box.hidden = !value.targets.length;
    document.body.toggleAttribute('data-languages', !box.hidden); // for the styles of what stands around it
    fill(source, value.sources, value.source, 'any');
    fill(target, value.targets, value.target, 'model’s choice');
    source.parentElement.hidden = !value.sources.length;
    swap.hidden = !value.sources.length || !value.target;
  });

  /** @param {string} from @param {string} to */
  function choose(from, to) {
    drawnKey = ''; // should the choice be refused, the next value restores the lists
    trigger('translate', { source: from, target: to });
  }

  for (const select of [source, target]) select.addEventListener('change', () => choose(source.value, target.value));
  swap.addEventListener('click', () => choose(target.value, source.value));
}

/** @param {HTMLSelectElement} select @param {string[]} codes @param {string} chosen @param {string} none what stands for "" */
function fill(select, codes, chosen, none) {
  const names = codes.map(nameOf);
  const options = codes.map((code, index) => {
    const isUnique = names[index] && names.indexOf(names[index]) === names.lastIndexOf(names[index]);
    return new Option(isUnique ? names[index] : [names[index], code].filter(Boolean).join(' · '), code);
  }).toSorted((one, other) => one.text.localeCompare(other.text, 'en'));
  for (const option of options) option.title = option.value;
  select.replaceChildren(...(chosen ? [] : [new Option(none, '')]), ...options);
  select.value = chosen;
}

/** fra_Latn and fr_XX are French, zho_Hans is Simplified Chinese; undefined for a code that browsers don't know. @param {string} code */
function nameOf(code) {
  const [language, script] = code.split('_');
  try {
    return NAMES.of(language === 'zho' ? `${language}-${script}` : language);
  } catch {
    return undefined;
  }
}
