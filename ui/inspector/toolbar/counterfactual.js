/**
 * "What if?": a fold with a few settings, and the text with the tokens that they would change.
 *
 * It draws answers and reports the chosen settings; the toolbar sends the questions.
 */

/** @import { SettingField } from '../../kit/kit_contract' */
/** @import { WhatIfForm, WhatIfToken, WhatIfValue } from './toolbar_contract' */

import { around, make, makeButton } from '../../kit/js/dom.js';
import { moveAlong } from '../../kit/js/keys.js';
import { makeSlider } from '../../kit/js/setting.js';
import { selectToken } from '../../kit/js/signals.js';
import { percent, tokenChip, visible, visibleText } from '../../kit/js/text.js';
import { inText, leading } from '../step.js';

const PATIENCE = 1000; // milliseconds until a notice says that the model is busy

/**
 * @param {WhatIfForm} form
 * @param {(settings: Record<string, number>) => void} ask settings that differ from the run's; {} for its own
 */
export function makeWhatIf(form, ask) {
  const sliders = form.settings.map((setting) => labelledSlider(setting, () => ask(settingsChosen())));
  const quick = form.quick.map((temperature) => makeButton(`${temperature}`, () => {
    sliders.find((slider) => slider.name === 'temperature').set(temperature);
    ask(settingsChosen());
  }, { title: `Temperature ${temperature}` }));
  const reset = makeButton('original', () => ask({}), { title: 'The settings this run was made with' });
  const verdict = make('p', { class: 'at-strong at-verdict', role: 'status' });
  const text = make('div', { class: 'at-scroll at-shaded-ends at-whatif-text', role: 'group', 'aria-label': 'The text, token by token' });
  const settings = make('div', { class: 'at-whatif-settings' },
    ...sliders.map((slider) => slider.node),
    make('div', { class: 'at-row at-wrap at-gap-sm at-md at-quick', role: 'group', 'aria-label': 'Temperatures to try' },
      make('span', { class: 'at-quiet', text: 'temperature' }), ...quick, reset));
  const node = make('details', { class: 'at-ruled at-question at-whatif' },
    make('summary', { text: 'What if?' }),
    make('p', { class: 'at-md at-quiet', text: 'Which tokens would change with other settings, given the same text and random draws? Nothing is generated.' }),
    settings, verdict, text);
  /** @type {HTMLElement[]} */
  let spans = [];
  let answer = /** @type {WhatIfValue | null} */ (null);
  let waiting = 0;

  text.addEventListener('click', (event) => open(around(event, '.at-then')));
  text.addEventListener('keydown', (event) => moveAlong(event, spans, open));

  /** @param {HTMLElement | null} span */
  function open(span) {
    if (span && answer) selectToken(answer.run, answer.first + spans.indexOf(span));
  }

  /** The settings of the sliders. */
  function settingsChosen() {
    return Object.fromEntries(sliders.map((slider) => [slider.name, slider.value()]));
  }

  /** @param {WhatIfValue} value */
  function show(value) {
    answer = value;
    rest();
    settings.hidden = !Object.keys(value.settings).length;
    for (const slider of sliders) if (slider.name in value.settings) slider.set(value.settings[slider.name]);
    const difference = value.first_difference;
    const changed = difference === null ? null : value.tokens[difference];
    verdict.replaceChildren(value.sentence,
      ...(changed ? [' ', tokenChip(changed.instead), ' instead of ', tokenChip(changed.text), '.'] : []));
    spans = value.tokens.map((token, index) => makeToken(token, index, difference));
    if (spans.length) spans[difference ?? 0].tabIndex = 0;
    text.replaceChildren(...spans);
  }

  /** Another run is inspected, so the answer is removed. */
  function clear() {
    answer = null;
    spans = [];
    settings.hidden = true;
    verdict.replaceChildren();
    text.replaceChildren();
  }

  function wait() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      node.classList.add('at-waiting');
      verdict.replaceChildren('Asking the model…');
    }, PATIENCE);
  }

  function rest() {
    clearTimeout(waiting);
    node.classList.remove('at-waiting');
  }

  /** The question was refused, so what was answered before is shown again. */
  function refuse() {
    rest();
    if (answer) show(answer);
    else clear();
  }

  /** Mark the token that the inspector shows. @param {string | null} run @param {number | null} index */
  function mark(run, index) {
    const position = answer && answer.run === run && index !== null ? index - answer.first : -1;
    spans.forEach((span, i) => span.classList.toggle('at-shown', i === position));
  }

  clear();
  return { node, show, clear, wait, rest, refuse, mark };
}

/** @param {SettingField} setting @param {() => void} onChange */
function labelledSlider(setting, onChange) {
  const { name, label, help, neutral } = setting;
  const input = makeSlider(setting, { title: help });
  const output = make('output', { class: 'at-quiet' });
  const showValue = () => {
    output.textContent = Number(input.value) === neutral && name !== 'temperature' ? `${input.value} (off)` : input.value;
  };
  input.addEventListener('input', () => {
    showValue();
    onChange();
  });
  return {
    name,
    node: make('label', { class: 'at-md at-slider' }, make('span', { text: label }), input, output),
    value: () => Number(input.value),
    set(value) {
      input.value = String(value);
      showValue();
    },
  };
}

/**
 * One token of the text; if another would have been chosen, both are written.
 * @param {WhatIfToken} token
 * @param {number} index
 * @param {number | null} difference the first index at which another is chosen: later tokens suppose that the text stayed the same
 */
function makeToken({ text, instead, probability: p }, index, difference) {
  const supposed = difference !== null && index > difference;
  const state = index === difference ? ' at-first-difference' : supposed ? ' at-supposed' : '';
  const title = instead === null ? `${visibleText(text)} unchanged · ${percent(p)}`
    : `${visibleText(instead)} instead of ${visibleText(text)} · ${percent(p)}`;
  const children = instead === null ? inText(text)
    : [...leading(text), make('span', { class: 'at-pair' },
      make('del', {}, ...visible(text, true)), make('ins', {}, ...visible(instead, true)))];
  return make('span', {
    class: `at-then${instead === null ? '' : ' at-differs'}${state}`, role: 'button', tabindex: -1, dir: 'auto',
    title: supposed ? `${title}, if the text before it stayed the same` : title,
  }, ...children);
}
