/**
 * The state of the settings beside the text: the decoding method, the values as typed, which of them are shown and which have an
 * effect. It knows no element of the page.
 *
 * Translators have settings of their own, apart from those of models that continue texts: a length that suits an answer would be
 * wrong for a sentence. A kind of model is known by its usual method, which it has until the visitor chooses another one.
 */

/** @import { PanelField, PanelForm, PanelValue } from './settings_contract' */

import { isInvalid } from '../kit/js/setting.js';
import { MethodValues } from './method_values.js';
import { movedStage, stageNames, stagesInOrder } from './stages.js';

export class PanelState {
  isComparing = false; // whether Compare is in sight, where each card has its own method

  #form;
  #onChange;
  /** @type {Map<string, PanelField>} */
  #parameters;
  #usualMethod; // of the model in use
  #current; // the settings for its kind
  /** @type {Map<string, MethodValues>} the settings for the other kinds, by their usual methods */
  #others = new Map();
  #context = 0; // tokens
  /**
   * What the address's settings are for, until such a model is in use: the kind with this usual method. If `usual` is null, the
   * kind is not known yet: the settings are the current ones, and belong to this model (null: to any). `isUsual` says that they
   * are to have its usual method.
   * @type {{usual: string | null, model: string | null, isUsual: boolean} | null}
   */
  #awaited = null;

  /** @param {PanelForm} form @param {() => void} onChange */
  constructor(form, onChange) {
    this.#form = form;
    this.#onChange = onChange;
    this.#parameters = new Map(form.parameters.map((parameter) => [parameter.name, parameter]));
    this.#usualMethod = form.first.method;
    this.#current = new MethodValues(form, this.#usualMethod);
  }

  /* ---- reading ---- */

  get method() {
    return this.#current.method;
  }

  get values() {
    return this.#current.values;
  }

  get usualMethod() {
    return this.#usualMethod;
  }

  /** Whether the address has settings that are not in use yet. */
  get isAwaiting() {
    return Boolean(this.#awaited?.usual);
  }

  /** The settings for all kinds of models, by their usual methods. @returns {Record<string, PanelValue>} */
  get all() {
    const sets = [...this.#others, /** @type {const} */ ([this.#usualMethod, this.#current])];
    return Object.fromEntries(sets.map(([usual, { method, values }]) => [usual, { method, values }]));
  }

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
    return Object.entries(this.#neutral()).every(([name, value]) => this.#current.sharedValue(name) === value);
  }

  get canRestore() {
    return this.#current.samplersBefore !== null;
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

  /** Whether a run with these settings would have chosen its tokens as the current ones do. @param {Record<string, any>} settings as in a run document */
  isSameChoice(settings) {
    const isSame = ({ name, group, default: unused }) => group === 'run' || ['strategy', 'stop_texts'].includes(name)
      || asTyped(settings[name] ?? unused) === asTyped(this.isShown(name) ? this.values[name] : unused);
    return settings.strategy === this.strategy && this.#form.parameters.every(isSame);
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
    if (this.isAwaiting) this.#awaited = null; // from now on the address is about these
    this.#current.enter(method);
    Object.assign(this.values, values);
    if (!this.isOff) this.#current.samplersBefore = null;
    this.#onChange();
  }

  /** @param {string} method */
  chooseMethod(method) {
    const { methods, samplers } = this.#form;
    const { shows, starts } = methods[method];
    const off = samplers.filter((name) => shows?.includes(name) && !(name in starts)
      && this.#current.sharedValue(name) === this.#parameters.get(name).neutral);
    this.change(Object.fromEntries(off.map((name) => [name, this.startOf(name, method)])), method);
  }

  /** Turn all filters off, or restore them. */
  toggleFilters() {
    if (this.#current.samplersBefore) return this.change(this.#current.samplersBefore);
    this.#current.samplersBefore = Object.fromEntries(this.#form.samplers.map((name) => [name, this.values[name]]));
    this.change(this.#neutral());
  }

  /** @param {string} stage @param {1 | -1} by */
  moveStage(stage, by) {
    this.change({ order: movedStage(this.#order(), this.stagesOn(), stage, by).join(', ') });
  }

  /* ---- models ---- */

  /** The settings for all kinds of models as they were before a reload, by their usual methods. @param {Record<string, PanelValue>} all */
  restore(all) {
    for (const [usual, { method, values }] of Object.entries(all)) {
      this.#others.set(usual, this.#settings(usual, method, values));
    }
  }

  /**
   * Take the settings of the address.
   * @param {{method: string | null, values: Record<string, any>}} settings `method`: null for the usual one
   * @param {{usual: string | null, model: string | null}} owner the usual method of the kind of model that they are for; where it is
   *   not known, the model; where none is named, the first one in use
   */
  open({ method, values }, { usual, model }) {
    const settings = this.#settings(usual ?? this.#usualMethod, method, values);
    this.#awaited = usual === this.#usualMethod ? null : { usual, model, isUsual: method === null };
    if (this.isAwaiting) {
      this.#current = this.#others.get(this.#usualMethod) ?? this.#current;
      this.#others.set(usual, settings);
    } else this.#current = settings;
  }

  /** @param {string} usual @param {string | null} method @param {Record<string, any>} values */
  #settings(usual, method, values) {
    const settings = new MethodValues(this.#form, usual);
    settings.enter(method ?? usual);
    Object.assign(settings.values, values);
    return settings;
  }

  /**
   * Take up the settings for the model in use, whose context limits lengths.
   * @param {{name: string, context: number, method: string}} model `method`: its usual one
   */
  followModel({ name, context, method }) {
    const isSame = this.#usualMethod === method && this.#context === context; // as with every update of a download
    this.#switchTo(name, method);
    this.#context = context;
    const areCut = this.#form.parameters.filter(({ longest }) => longest).map((parameter) => {
      parameter.maximum = Math.min(parameter.longest, context);
      return this.#current.limit(parameter.name, parameter.maximum);
    });
    if (!isSame || areCut.includes(true)) this.#onChange();
  }

  /** @param {string} model @param {string} method its usual one */
  #switchTo(model, method) {
    const awaited = this.#awaited?.usual === null && [model, null].includes(this.#awaited.model) ? this.#awaited : null;
    const isOther = this.#usualMethod !== method;
    const isDue = !this.isAwaiting || this.#awaited?.usual === method;
    if (awaited || (isOther && isDue)) this.#awaited = null; // what another model was to bring is put aside
    if (!isOther) return;
    if (!awaited) {
      this.#others.set(this.#usualMethod, this.#current);
      this.#current = this.#others.get(method) ?? new MethodValues(this.#form, method);
    } else if (awaited.isUsual && this.method === this.#usualMethod) this.#current.enter(method);
    this.#others.delete(method);
    this.#usualMethod = method;
  }

  #neutral() {
    return Object.fromEntries(this.#form.samplers.map((name) => [name, this.#parameters.get(name).neutral]));
  }

  #order() {
    return stagesInOrder(stageNames(this.#form.first.values.order), this.values.order);
  }
}

/** A value of a run document as text, as it would be typed. @param {any} value */
function asTyped(value) {
  if (typeof value !== 'object') return String(value);
  return (Array.isArray(value) ? value : Object.entries(value ?? {}).map((pair) => pair.join(':'))).join(', ');
}
