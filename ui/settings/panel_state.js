/**
 * The state of the settings beside the text: the decoding method, the values as typed, which of them are shown and which have an
 * effect. It knows no element of the page.
 */

/** @import { PanelField, PanelForm } from './settings_contract' */

import { isInvalid } from '../kit/js/setting.js';
import { movedStage, stageNames, stagesInOrder } from './stages.js';

export class PanelState {
  /** @type {string} */
  method;
  /** @type {Record<string, any>} by parameter: an empty number is null, and an invalid one stays as it is */
  values;
  isComparing = false; // whether Compare is in sight, where each card has its own method

  #form;
  #onChange;
  /** @type {Map<string, PanelField>} */
  #parameters;
  #usualMethod; // the method of the model, until the visitor chooses one
  /** @type {Map<string, string>} the method that was chosen in place of each usual method: translators have another one */
  #chosenMethods = new Map();
  /** @type {Map<string, any>} the values of methods that are not chosen, by owner and parameter (`#ownerOf`) */
  #putAside = new Map();
  /** @type {Record<string, any> | null} the samplers' values before they were turned off */
  #samplersBefore = null;
  #context = 0; // tokens
  /** @type {Map<string, number>} lengths that were too long for the model, by parameter */
  #tooLong = new Map();
  /** @type {string | null} the model for which the address names a method, until it is in use */
  #awaitedModel = null;

  /** @param {PanelForm} form @param {() => void} onChange */
  constructor(form, onChange) {
    this.#form = form;
    this.#onChange = onChange;
    this.#parameters = new Map(form.parameters.map((parameter) => [parameter.name, parameter]));
    this.method = this.#usualMethod = form.first.method;
    this.values = { ...form.first.values, ...form.methods[this.method].starts };
  }

  /* ---- reading ---- */

  get strategy() {
    return this.#form.methods[this.method].strategy ?? this.values.strategy;
  }

  /** @param {string} name also of a setting that this page does not offer */
  isShown(name) {
    const { shows } = this.#form.methods[this.method];
    const { group, strategies } = this.#parameters.get(name) ?? { group: '', strategies: [] };
    if (this.isComparing && group === 'run') return true; // a card may use it
    return (!shows || shows.includes(name)) && strategies.includes(this.strategy);
  }

  /** @param {string} name */
  isNeutral(name) {
    return this.values[name] === this.#parameters.get(name).neutral;
  }

  /** @param {string} name */
  isInvalid(name) {
    return isInvalid(this.#parameters.get(name), this.values[name]);
  }

  /** Whether the parameters have these values. @param {Record<string, any>} values */
  has(values) {
    return Object.entries(values).every(([name, value]) => this.values[name] === value);
  }

  /** Whether all filters are off, apart from a method's own. */
  get isOff() {
    return Object.entries(this.#neutral()).every(([name, value]) => this.#sharedValue(name) === value);
  }

  get canRestore() {
    return this.#samplersBefore !== null;
  }

  /** The value of a parameter before anybody changes it. @param {string} name @param {string} method */
  startOf(name, method = this.method) {
    const first = this.#form.methods[method].starts[name] ?? this.#form.first.values[name];
    const { longest, maximum } = this.#parameters.get(name);
    return longest ? Math.min(first, maximum) : first;
  }

  /**
   * Whether a parameter that could have an effect is shown by "Custom", but not by the method of the page's first model. A link is
   * read before the model that it opens is known.
   * @param {string} name
   */
  isBeyondFirst(name) {
    const { shows } = this.#form.methods[this.#form.first.method];
    return Boolean(shows) && !shows.includes(name) && this.#parameters.get(name).strategies.includes(this.#form.first.values.strategy);
  }

  /** The parameters in use whose values are invalid. */
  invalid() {
    return this.#form.parameters.filter(({ name }) => this.isShown(name) && this.isInvalid(name));
  }

  /** The filters that have an effect, in their order. */
  stagesOn() {
    const chain = this.#form.chains[this.strategy]; // the stages that it can run
    const isOn = (name) => this.isShown(name) && !this.isNeutral(name);
    return this.#order().filter((stage) => chain.includes(stage) && this.#form.stages[stage].some(isOn));
  }

  /* ---- changing ---- */

  /** @param {Record<string, any>} values @param {string} method */
  change(values, method = this.method) {
    if (method !== this.method || this.#form.samplers.some((name) => name in values)) this.#chosenMethods.set(this.#usualMethod, method);
    this.#enter(method);
    Object.assign(this.values, values);
    if (!this.isOff) this.#samplersBefore = null;
    this.#onChange();
  }

  /** @param {string} method */
  chooseMethod(method) {
    const { methods, samplers } = this.#form;
    const { shows, starts } = methods[method];
    const off = samplers.filter((name) => shows?.includes(name) && !(name in starts)
      && this.#sharedValue(name) === this.#parameters.get(name).neutral);
    this.change(Object.fromEntries(off.map((name) => [name, this.startOf(name, method)])), method);
  }

  /** Turn all filters off, or restore them. */
  toggleFilters() {
    if (this.#samplersBefore) return this.change(this.#samplersBefore);
    this.#samplersBefore = Object.fromEntries(this.#form.samplers.map((name) => [name, this.values[name]]));
    this.change(this.#neutral());
  }

  /** @param {string} stage @param {1 | -1} by */
  moveStage(stage, by) {
    this.change({ order: movedStage(this.#order(), this.stagesOn(), stage, by).join(', ') });
  }

  /** Switch to another model's method, or to the one that the visitor chose in its place. @param {string} model @param {string} method its own */
  followModel(model, method) {
    if (model === this.#awaitedModel) {
      this.#chosenMethods.delete(this.#usualMethod);
      this.#chosenMethods.set(method, this.method);
      this.#awaitedModel = null;
    }
    if (this.#usualMethod === method) return;
    this.#usualMethod = method;
    this.change({}, this.#chosenMethods.get(method) ?? method);
  }

  /** Limit lengths to the context of the model; a longer context restores a length that was too long. @param {number} tokens */
  limitLengths(tokens) {
    if (this.#context === tokens) return; // repeated with every update of a download
    this.#context = tokens;
    const changed = {};
    for (const parameter of this.#form.parameters.filter(({ longest }) => longest)) {
      const { name, maximum: before } = parameter;
      parameter.maximum = Math.min(parameter.longest, tokens);
      const wanted = (this.values[name] === before && this.#tooLong.get(name)) || this.values[name];
      const isTooLong = wanted > parameter.maximum;
      if (isTooLong) this.#tooLong.set(name, wanted);
      else this.#tooLong.delete(name);
      const length = isTooLong ? parameter.maximum : wanted;
      if (!Object.is(length, this.values[name])) changed[name] = length;
    }
    this.change(changed);
  }

  /** Choose the method of the address, for the model that it names. @param {string} method @param {string | null} model */
  openWith(method, model) {
    this.#enter(method);
    this.#chosenMethods.set(this.#usualMethod, method);
    this.#awaitedModel = model;
  }

  get usualMethod() {
    return this.#usualMethod;
  }

  /** Switch to a method: its own values replace the shared ones until it is left. @param {string} method */
  #enter(method) {
    const { methods } = this.#form;
    for (const name of new Set([this.method, method].flatMap((each) => Object.keys(methods[each].starts)))) {
      this.#putAside.set(this.#ownerOf(name), this.values[name]);
      const owner = this.#ownerOf(name, method);
      this.values[name] = this.#putAside.has(owner) ? this.#putAside.get(owner) : this.startOf(name, method);
    }
    this.method = method;
  }

  /** The owner of a parameter's value: one method, or all that have none of their own. @param {string} name @param {string} method */
  #ownerOf(name, method = this.method) {
    return `${name in this.#form.methods[method].starts ? method : 'shared'} ${name}`;
  }

  /** A parameter's value in all methods without one of their own. @param {string} name */
  #sharedValue(name) {
    const shared = `shared ${name}`;
    return this.#ownerOf(name) === shared ? this.values[name] : this.#putAside.get(shared) ?? this.#form.first.values[name];
  }

  #neutral() {
    return Object.fromEntries(this.#form.samplers.map((name) => [name, this.#parameters.get(name).neutral]));
  }

  #order() {
    return stagesInOrder(stageNames(this.#form.first.values.order), this.values.order);
  }
}
