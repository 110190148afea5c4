/**
 * The history: what the visitor's browser keeps of the tabs comes back when the page is opened again. Its events are those
 * of `HistoryReply`.
 *
 * While what is in sight is being brought back, the body has `data-restoring`: nothing else is shown in its place
 * (ui/history/history.css), and the page is not called ready (ui/page.js).
 */

/** @import { HistoryForm } from './contract' */

import { onceConnected, partOf } from '../kit/address/address.js';
import { find, make } from '../kit/js/dom.js';
import { Questions } from '../kit/js/questions.js';
import { restedText } from '../kit/js/signals.js';
import { unpacked } from '../kit/js/values.js';
import { Keeper } from './keeper.js';
import { openStore } from './store.js';

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-history');
  const { tabs } = /** @type {HistoryForm} */ (unpacked(props.form));
  const questions = new Questions((event, data) => trigger(event, data));
  document.body.toggleAttribute('data-restoring', true);
  root.replaceChildren(make('span'));
  watch('value', () => props.value && questions.settle(unpacked(props.value)));
  openStore().then(keep).catch(() => {}) // a browser that forbids it keeps nothing
    .finally(() => document.body.removeAttribute('data-restoring'));

  /** @param {import('./store.js').Store} store */
  async function keep(store) {
    const keeper = new Keeper(store, questions, () => {});
    await restore(keeper);
    restedText.subscribe(root, ({ kind, isEmpty }) => keeper.rested(kind, isEmpty));
  }

  /** @param {Keeper} keeper */
  async function restore(keeper) {
    const keys = Object.entries(keeper.shown).filter(([kind, key]) => key && tabs[kind]);
    if (!keys.length) return;
    await new Promise((resolve) => onceConnected(() => resolve(undefined)));
    const isShown = (kind) => tabs[kind] === document.body.dataset.tab;
    for (const [kind, key] of keys.toSorted(([one], [other]) => Number(isShown(other)) - Number(isShown(one)))) {
      const bring = isShown(kind) && !partOf('model') && !history.state?.model; // else ui/models/picker.js brings that one
      await keeper.open(key, { isShown: isShown(kind), bring });
      await new Promise(requestAnimationFrame);
      document.body.removeAttribute('data-restoring');
    }
  }
}
