/**
 * The languages that a translator translates from and into. Their names come from the browser, in English like the page.
 */

/** @import { LanguagesValue } from './models_contract' */

import { find, make, makeButton } from '../kit/js/dom.js';
import { isReturn, keepOverReload, keptObject } from '../kit/js/storage.js';

const KEPT = 'languages'; // the name in `sessionStorage`
const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** @param {(source: string, target: string, count: number) => void} choose `count`: the number of this choice, from 1 */
export function makeLanguages(choose) {
  // A language that is chosen for both sides swaps them, as translators do.
  const source = make('select', { onchange: () => request(source.value, source.value === current.target ? current.source : target.value), 'aria-label': 'From' });
  const target = make('select', { onchange: () => request(target.value === current.source ? current.target : source.value, target.value), 'aria-label': 'To' });
  const swap = makeButton('⇄', () => request(target.value, source.value), { class: 'at-plain at-swap', 'aria-label': 'Swap languages' });
  const from = make('label', {}, 'From ', source);
  const node = make('div', { class: 'at-row at-gap-sm attend-languages', hidden: true }, from, swap, make('label', {}, 'To ', target));
  let drawnKey = '';
  let chosen = 0; // how often languages were chosen here
  /** @type {LanguagesValue} */
  let current = { sources: [], targets: [], source: '', target: '', count: 0 };
  const kept = keptObject(KEPT); // by the translators' names
  const before = isReturn() ? { ...kept } : {}; // those still to be chosen again

  /** @param {LanguagesValue} value */
  function draw(value) {
    if (value.count && value.count < chosen) return; // the answer to a later choice is on its way; 0: the server was restarted
    const key = JSON.stringify(value);
    if (key === drawnKey) return; // an open list stays open while a model is loading
    drawnKey = key;
    current = value;
    node.hidden = !value.targets.length;
    fill(source, value.sources, value.source, 'any');
    fill(target, value.targets, value.target, 'model’s choice');
    if (value.source && !value.target) find(target, `[value="${value.source}"]`, HTMLOptionElement).disabled = true; // there is nothing to swap
    from.hidden = !value.sources.length;
    swap.hidden = !value.sources.length;
    swap.disabled = !value.target;
    swap.title = value.target ? 'Swap languages' : 'Choose a language under “To” first';
  }

  /** Keep the languages over a reload, after which they are chosen again. @param {string} name of the translator */
  function keep(name) {
    const { sources, targets, count: _, ...now } = current;
    const last = before[name] ?? now;
    delete before[name];
    const isOffered = [...sources, ''].includes(last.source) && [...targets, ''].includes(last.target);
    if (isOffered && (last.source !== now.source || last.target !== now.target)) return request(last.source, last.target);
    if (targets.length) kept[name] = now;
    keepOverReload(KEPT, JSON.stringify(kept));
  }

  /** @param {string} read @param {string} written */
  function request(read, written) {
    chosen += 1;
    draw({ ...current, source: read, target: written, count: chosen }); // at once, since another choice may come before the answer
    drawnKey = ''; // a choice that is refused is answered with the languages of before
    choose(read, written, chosen);
  }

  return { node, draw, keep };
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
