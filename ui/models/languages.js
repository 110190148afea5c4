/**
 * The languages that a translator translates from and into. Their names come from the browser, in English like the page.
 */

/** @import { LanguagesValue } from './models_contract' */

import { make, makeButton } from '../kit/js/dom.js';

const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** @param {(source: string, target: string) => void} choose */
export function makeLanguages(choose) {
  const change = () => request(source.value, target.value);
  const source = make('select', { onchange: change, 'aria-label': 'From' });
  const target = make('select', { onchange: change, 'aria-label': 'To' });
  const swap = makeButton('⇄', () => request(target.value, source.value), { class: 'at-plain at-swap', title: 'Swap languages', 'aria-label': 'Swap languages' });
  const from = make('label', {}, 'From ', source);
  const node = make('div', { class: 'at-row at-gap-sm attend-languages', hidden: true }, from, swap, make('label', {}, 'To ', target));
  let drawnKey = '';

  /** @param {LanguagesValue} value */
  function draw(value) {
    const key = JSON.stringify(value);
    if (key === drawnKey) return; // an open list stays open while a model is loading
    drawnKey = key;
    node.hidden = !value.targets.length;
    fill(source, value.sources, value.source, 'any');
    fill(target, value.targets, value.target, 'model’s choice');
    from.hidden = !value.sources.length;
    swap.hidden = !value.sources.length || !value.target;
  }

  /** @type {typeof choose} */
  function request(...languages) {
    drawnKey = ''; // should the choice be refused, the next value restores the lists
    choose(...languages);
  }

  return { node, draw };
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
