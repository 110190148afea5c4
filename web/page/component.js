/**
 * The components of ui/ where there is no Gradio: their values are set here, and their events are answered in this browser.
 */

/** @import { Component } from '../../ui/kit/js/gradio' */

import { make } from '../../ui/kit/js/dom.js';

/**
 * Put a component at the end of an element that is on the page.
 * @param {Element} parent
 * @param {(component: Component) => void} start of a module of ui/
 * @param {string} name the class by which that finds its root
 * @param {Record<string, any>} props
 * @param {Record<string, (data: any) => unknown>} [answers] by event; other events are ignored
 */
export function mount(parent, start, name, props, answers = {}) {
  const element = make('div', {}, make('div', { class: `${name} at-view` }));
  let receive = () => {};
  parent.append(element);
  start({
    element, props,
    trigger: (event, data) => queueMicrotask(() => answers[event]?.(data)), // later, as a server would
    watch: (prop, changed) => { if (prop === 'value') receive = changed; },
  });
  return {
    props,
    /** @param {any} value */
    show(value) {
      props.value = value;
      receive();
    },
  };
}
