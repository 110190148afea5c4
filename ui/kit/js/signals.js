/**
 * Signals between the parts of the page, which need not know each other.
 *
 * Scripts load in any order, so a subject keeps its last value for later subscribers.
 */

import { find } from './dom.js';

/** @template Detail */
class Subject {
  /** @type {Map<(detail: Detail) => void, Element | null>} handlers and whom they belong to */
  #handlers = new Map();
  /** @type {Detail | undefined} */
  #last;

  /** @param {Detail} detail */
  publish(detail) {
    this.#last = detail;
    for (const [handler, owner] of this.#handlers) {
      if (!owner || owner.isConnected) handler(detail);
      else this.#handlers.delete(handler);
    }
  }

  /**
   * Calls the handler at once with the last value, then with every new one.
   * @param {Element | null} owner the subscription ends when it leaves the page; null: never
   * @param {(detail: Detail) => void} handler
   */
  subscribe(owner, handler) {
    this.#handlers.set(handler, owner);
    if (this.#last !== undefined) handler(this.#last);
  }
}

/**
 * The token that the inspector shows: its run, its number among those generated (null: it was given), how much it
 * attends to each of them and to those of the prompt in eleven shades (null: tokens are not coloured so), and whether the
 * run goes on.
 * @type {Subject<{run: string | null, index: number | null, levels: number[] | null, given: number[] | null, busy: boolean}>}
 */
export const shownToken = new Subject();

/**
 * What that token was chosen from, as the inspector's contract has it; null for one that was given, or none.
 * @type {Subject<{step: Record<string, any> | null}>}
 */
export const shownStep = new Subject();

/** What the tokens' colours mean. @type {Subject<'probability' | 'attention' | 'off'>} */
export const colourMode = new Subject();

/** How answers of a conversation are shown. @type {Subject<'tokens' | 'formatted'>} */
export const textView = new Subject();

/** The settings beside the text that hold for every card of a comparison. @type {Subject<Record<string, any>>} */
export const panelSettings = new Subject();

/** The decoding method that is chosen in the settings. @type {Subject<string>} */
export const decodingMethod = new Subject();

/**
 * The model in use: its name, how many tokens it reads, and its decoding method.
 * @type {Subject<{name: string, context: number, method: string}>}
 */
export const currentModel = new Subject();

/**
 * What another tab asks Compare to offer: the prompt, whether it is a message, and the settings of each card.
 * @type {Subject<{text: string, answer: boolean, cards: Record<string, any>[]}>}
 */
export const askedComparison = new Subject();

/** Where the translator of the example looked, while it is shown. @type {Subject<{alignment: Record<string, any> | null}>} */
export const exampleAlignment = new Subject();

/**
 * What a tab shows has changed and come to rest, so that it can be kept: its kind of documents, and whether it shows none.
 * @type {Subject<{kind: string, isEmpty: boolean, isGrowing?: boolean}>} `isGrowing`: it has begun to grow instead, which is
 *   said once
 */
export const settledText = new Subject();

/**
 * The server can't be reached, so nothing goes on; the page begins anew once what it shows is saved.
 * @type {Subject<{until: (saved: Promise<unknown>) => void}>}
 */
export const connectionLost = new Subject();

/**
 * What a tab shows then, for the history to save.
 * @type {Subject<import('../../history/rescue.js').Interrupted & {until: (saved: Promise<unknown>) => void}>}
 */
export const interruptedText = new Subject();

/**
 * A document to be put in place of what its tab shows: one that the page comes with.
 * @type {Subject<{document: Record<string, any>}>}
 */
export const documentToOpen = new Subject();

/** The tab that is in sight. @type {Subject<string>} */
export const shownTab = new Subject();

/** Bring a tab into sight, as a click on its entry does. @param {string} name */
export function showTab(name) {
  if (document.body.dataset.tab !== name) find(document.body, `#attend-tabs [data-name="${name}"] input`).click();
}

/** @type {Map<(run: string | null, index: number) => boolean, Element>} */
const inspectors = new Map();

/**
 * @param {Element} owner
 * @param {(run: string | null, index: number) => boolean} show a token of a run, if that run is at hand
 */
export const answerSelections = (owner, show) => inspectors.set(show, owner);

/** @param {string | null} run @param {number} index @returns {boolean} whether a view has that run and shows the token */
export const selectToken = (run, index) =>
  [...inspectors].some(([show, owner]) => owner.isConnected && show(run, index));
