/**
 * The settings of a card: what they say in a few words, and the form in which they are changed.
 *
 * Which settings there are, their ranges and their help come from the server; it checks again whatever is sent.
 *
 * @typedef {{name: string, label: string, help: string, main: boolean, strategies: string[], choices: [string, string][],
 *   range: [number, number, number] | null, integer: boolean, default: any, neutral: any}} Parameter
 * @typedef {Record<string, any>} Settings what is not as it is by default
 */

/** @param {Settings} settings @param {Parameter} parameter */
const valueOf = (settings, parameter) => settings[parameter.name] ?? parameter.default;

/** @param {any} one @param {any} other settings of one kind; some are lists or objects */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Those that the strategy uses. @param {Parameter[]} parameters @param {Settings} settings */
function usedBy(parameters, settings) {
  const strategy = valueOf(settings, parameters.find(({ name }) => name === 'strategy'));
  return parameters.filter((parameter) => parameter.strategies.includes(strategy));
}

/**
 * A card in a few words: its strategy, what does something in it, and what sets it apart from the other cards.
 * @param {Parameter[]} parameters @param {Settings} settings @param {Settings[]} all of the cards
 * @returns {string[]}
 */
function summary(parameters, settings, all) {
  const words = [];
  for (const parameter of usedBy(parameters, settings)) {
    const value = valueOf(settings, parameter);
    const apart = all.some((other) => usedBy(parameters, other).includes(parameter)
      && !same(valueOf(other, parameter), value));
    const acts = parameter.neutral !== null && !same(value, parameter.neutral);
    if (parameter.name === 'strategy') words.push(new Map(parameter.choices).get(value));
    else if (apart || acts) words.push(typeof value === 'object' ? parameter.label : `${parameter.label} ${value}`);
  }
  return words;
}

/**
 * @param {{parameters: Parameter[], presets: {name: string, settings: Settings}[]}} offered
 * @param {{change: (settings: Settings) => void, panel: () => void}} actions
 */
function makeForm(offered, actions) {
  const fields = make('div', { class: 'at-fields' });
  const preset = make('select', { 'aria-label': 'Start from a preset' },
    make('option', { value: '', text: 'a preset …' }),
    ...offered.presets.map(({ name }, place) => make('option', { value: place, text: name })));
  const panel = make('button', {
    type: 'button', class: 'at-plain', text: 'The panel’s settings',
    'data-help': 'Takes what the settings beside the text say, the advanced ones too.',
  });
  const node = make('fieldset', { class: 'at-form' },
    make('legend', { class: 'at-hidden', text: 'Settings of this card' }),
    make('div', { class: 'at-form-start' }, preset, panel), fields);
  /** @type {Settings} */
  let settings = {};

  preset.addEventListener('change', () => {
    if (!preset.value) return;
    const { max_new_tokens: length } = settings; // the presets say how to choose, not how much
    const chosen = offered.presets[Number(preset.value)].settings;
    preset.value = '';
    show({ ...chosen, max_new_tokens: length });
    actions.change(settings);
  });
  panel.addEventListener('click', actions.panel);

  /** @param {Settings} now */
  function show(now) {
    settings = now;
    const wanted = usedBy(offered.parameters, settings).filter((parameter) =>
      (parameter.choices.length || parameter.range) && (parameter.main || parameter.name in settings));
    fields.replaceChildren(...wanted.map(makeField));
  }

  /** @param {Parameter} parameter */
  function makeField(parameter) {
    const { label, help, choices, name } = parameter;
    const value = valueOf(settings, parameter);
    const control = choices.length
      ? make('select', {}, ...choices.map(([word, text]) => make('option', { value: word, text, selected: word === value })))
      : makeNumber(parameter, value);
    const wrong = make('span', { class: 'at-wrong', role: 'alert' });
    control.dataset.name = name;
    control.addEventListener('change', () => {
      const read = choices.length ? control.value : numberIn(control, parameter);
      control.toggleAttribute('aria-invalid', read === null);
      wrong.textContent = read === null ? `${label} must be ${accepted(parameter)}.` : '';
      if (read === null) return;
      settings = { ...settings, [name]: read };
      actions.change(settings);
      if (name !== 'strategy') return;
      show(settings); // another strategy has other settings
      fields.querySelector('[data-name="strategy"]').focus();
    });
    return make('label', { 'data-help': help }, make('span', { text: label }), control, wrong);
  }

  return { node, show, wrong: () => /** @type {HTMLElement | null} */ (fields.querySelector('[aria-invalid]')) };
}

/** @param {Parameter} parameter @param {number} value */
function makeNumber({ range: [min, max, step] }, value) {
  return make('input', { type: 'number', min, max, step, value, inputmode: 'decimal' });
}

/** @param {HTMLInputElement} control @param {Parameter} parameter @returns {number | null} null for a wrong one */
function numberIn(control, { range: [min, max], integer }) {
  const number = Number(control.value);
  const right = control.value.trim() !== '' && number >= min && number <= max && (!integer || Number.isInteger(number));
  return right ? number : null;
}

/** @param {Parameter} parameter */
const accepted = ({ range: [min, max], integer }) => `${integer ? 'a whole number' : 'a number'} from ${min} to ${max}`;
