/**
 * The languages that a translator translates from and into. Their names come from the browser, in English like the page.
 */

import { find } from '../kit/js/dom.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const box = find(element, '.attend-languages');
  const source = find(element, '.at-source', HTMLSelectElement);
  const target = find(element, '.at-target', HTMLSelectElement);
  const swap = find(element, '.at-swap', HTMLButtonElement);
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  let filled = '';

  /* fra_Latn and fr_XX are French, zho_Hans is Simplified Chinese; languages that share a name are shown with their codes. */
  function called(code) {
    try {
      const [language, rest] = code.split('_');
      return names.of(language === 'zho' ? `${language}-${rest}` : language);
    } catch {
      return undefined; // no language that browsers know of
    }
  }

  function listed(codes) {
    const options = codes.map((code) => ({ code, name: called(code) }));
    const often = new Map();
    for (const { name } of options) often.set(name, (often.get(name) || 0) + 1);
    for (const one of options) {
      const alone = one.name && often.get(one.name) === 1;
      one.text = alone ? one.name : [one.name, one.code].filter(Boolean).join(' · ');
    }
    return options.toSorted((a, b) => a.text.localeCompare(b.text, 'en'));
  }

  function fill(select, codes, chosen, none) {
    const options = listed(codes).map(({ code, text }) => new Option(text, code));
    for (const option of options) option.title = option.value;
    if (!chosen) options.unshift(new Option(none, ''));
    select.replaceChildren(...options);
    select.value = chosen;
  }

  function draw() {
    if (!props.value || filled === props.value) return; // a list that is open stays so while a model is on its way
    filled = props.value;
    const value = JSON.parse(filled);
    box.hidden = !value.targets.length;
    document.body.toggleAttribute('data-languages', !box.hidden); // for the styles of what stands around it
    fill(source, value.sources, value.source, 'any');
    fill(target, value.targets, value.target, 'model’s choice');
    source.parentElement.hidden = !value.sources.length;
    swap.hidden = !value.sources.length || !value.target;
  }

  function choose(from, to) {
    filled = ''; // should it be refused, what stood there comes back with the next value
    trigger('translate', { source: from, target: to });
  }

  source.addEventListener('change', () => choose(source.value, target.value));
  target.addEventListener('change', () => choose(source.value, target.value));
  swap.addEventListener('click', () => choose(target.value, source.value));
  watch('value', draw);
  draw();
}
