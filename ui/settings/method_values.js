/**
 * A decoding method and the values of all parameters, as typed. A method's own values replace those that the others share until it
 * is left. Knows nothing of models.
 */

/** @import { PanelForm } from './settings_contract' */

export class MethodValues {
  /** @type {string} */
  method;
  /** @type {Record<string, any>} by parameter: an empty number is null, and an invalid one stays as it is */
  values;
  /** @type {Record<string, any> | null} the samplers' values before they were turned off */
  samplersBefore = null;

  #form;
  /** @type {Map<string, any>} the values of methods that are not chosen, by owner and parameter (`#ownerOf`) */
  #putAside = new Map();
  /** @type {Map<string, {wanted: number, most: number}>} lengths that were too long, and their limits, by parameter */
  #tooLong = new Map();

  /** @param {PanelForm} form @param {string} method */
  constructor(form, method) {
    this.#form = form;
    this.method = method;
    this.values = { ...form.first.values, ...form.methods[method].starts };
  }

  /** Switch to a method. @param {string} method */
  enter(method) {
    const { methods, first } = this.#form;
    for (const name of new Set([this.method, method].flatMap((each) => Object.keys(methods[each].starts)))) {
      this.#putAside.set(this.#ownerOf(name), this.values[name]);
      const owner = this.#ownerOf(name, method);
      this.values[name] = this.#putAside.has(owner) ? this.#putAside.get(owner) : methods[method].starts[name] ?? first.values[name];
    }
    this.method = method;
  }

  /** A parameter's value in all methods without one of their own. @param {string} name */
  sharedValue(name) {
    const shared = `shared ${name}`;
    return this.#ownerOf(name) === shared ? this.values[name] : this.#putAside.get(shared) ?? this.#form.first.values[name];
  }

  /**
   * Limit a length; a longer limit restores one that was too long.
   * @param {string} name @param {number} most
   * @returns {boolean} whether that changed it
   */
  limit(name, most) {
    const before = this.values[name], cut = this.#tooLong.get(name);
    const wanted = cut && cut.most === before ? cut.wanted : before; // it may have been changed since
    const isTooLong = wanted > most;
    if (isTooLong) this.#tooLong.set(name, { wanted, most });
    else this.#tooLong.delete(name);
    this.values[name] = isTooLong ? most : wanted;
    return this.values[name] !== before;
  }

  /** The owner of a parameter's value: one method, or all that have none of their own. @param {string} name @param {string} method */
  #ownerOf(name, method = this.method) {
    return `${name in this.#form.methods[method].starts ? method : 'shared'} ${name}`;
  }
}
