/**
 * Signals between the parts of the page, which need not know each other. Python's handlers publish some of them, too, by
 * the `js` of an event (`call` of ui/kit/assets.py).
 *
 * Scripts load in any order, so a subject keeps its last value for later subscribers.
 */

/** @template Detail */
class Subject {
  /** @type {Map<(detail: Detail) => void, Element | null>} handlers and whom they belong to */
  #handlers = new Map();
  /** @type {Detail | undefined} undefined before there is one */
  latest;

  /** @param {Detail} detail */
  publish(detail) {
    this.latest = detail;
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
    if (this.latest !== undefined) handler(this.latest);
  }
}

/**
 * The token that the inspector shows: its run, its number among the generated tokens (null for a token of the prompt), and
 * whether the run goes on. Where tokens are coloured by attention, `levels` and `promptLevels` say in eleven shades how much
 * it attends to each generated token and to each token of the prompt.
 * @type {Subject<{run: string | null, index: number | null, levels: number[] | null, promptLevels: number[] | null, busy: boolean}>}
 */
export const inspectedToken = new Subject();

/**
 * The step that chose that token (`Step` of ui/inspector/step.js); null for a token of the prompt, or none.
 * @type {Subject<{step: Record<string, any> | null}>}
 */
export const inspectedStep = new Subject();

/**
 * The attention of a run that was opened from a file too large to be sent whole.
 * @type {Subject<{run: string, attention: import('../../../decoding/run/run_document').RunDocument['attention'] | null}>}
 */
export const openedAttention = new Subject();

/**
 * A head of which the inspected text is to be coloured by its attention.
 * @type {Subject<{run: string, layer: number, head: number, kind: 'self' | 'cross'}>}
 */
export const shownHead = new Subject();

/**
 * Why was the inspected token chosen, and not the candidate with this id? null: and not any other.
 * @type {Subject<{rival: number | null}>}
 */
export const askedWhy = new Subject();

/**
 * The inspector's run, whenever a part of it arrives: always the same object, whose content changes.
 * @type {Subject<import('../../inspector/run.js').Run>}
 */
export const inspectedRun = new Subject();

/**
 * The answers that "Why?" has had about a run, as a shared file can show them again (`AnsweredQuestion` of
 * ui/inspector/why/why_contract.py).
 * @type {Subject<{run: string | null, answers: Record<string, any>[]}>}
 */
export const answeredWhy = new Subject();

/** What the tokens' colours mean. @type {Subject<'probability' | 'attention' | 'off'>} */
export const colourMode = new Subject();

/** Texts of the conversation are to be formatted (ui/chat/formatted/requests.js). @type {Subject<null>} */
export const textsWanted = new Subject();

/** The run whose messages are to be coloured by attention (ui/chat/attended.js). @type {Subject<string>} */
export const messagesWanted = new Subject();

/** How answers of a conversation are shown. @type {Subject<'tokens' | 'formatted'>} */
export const textView = new Subject();

/** The settings beside the text that hold for every card of a comparison. @type {Subject<Record<string, any>>} */
export const panelSettings = new Subject();

/** A seed that the visitor uses again, from now on. @type {Subject<number>} */
export const reusedSeed = new Subject();

/** The decoding method that is chosen in the settings. @type {Subject<string>} */
export const decodingMethod = new Subject();

/**
 * The model in use: its name, how many tokens it reads, its decoding method, and its name and its weights' checksum in a link.
 * @type {Subject<{name: string, context: number, method: string, linked: string, checksum: string}>}
 */
export const currentModel = new Subject();

/**
 * What another tab asks Compare to offer: the prompt, whether it is a message, and the settings of each card.
 * @type {Subject<{text: string, answer: boolean, cards: Record<string, any>[]}>}
 */
export const askedComparison = new Subject();

/**
 * A run that Compare is to write again on two cards: as it was, and with changes inside the model (`Change` of
 * ui/inspector/why/without.js).
 * @type {Subject<{run: string, changes: Record<string, any>[]}>}
 */
export const comparedRun = new Subject();

/**
 * An answer of Chat that is to get a version that is written with such changes.
 * @type {Subject<{run: string, changes: Record<string, any>[]}>}
 */
export const answeredWithout = new Subject();

/** Where the translator of the example looked, while it is shown. @type {Subject<{alignment: Record<string, any> | null}>} */
export const exampleAlignment = new Subject();

/**
 * What a tab shows has changed and come to rest, so that it can be kept: its kind of documents, and whether it shows none.
 * @type {Subject<{kind: string, isEmpty: boolean, isGrowing?: boolean}>} `isGrowing`: it has begun to grow instead, which is
 *   said once
 */
export const settledText = new Subject();

/** From now on, Gradio passes on what components trigger. @type {Subject<true>} */
export const connected = new Subject();

/** The page's first event has been heard (ui/settings/panel.py). @returns {[]} the arguments of its handler */
export function connect() {
  if (!connected.latest) {
    document.body.toggleAttribute('data-connected', true); // for tests and benchmarks
    connected.publish(true);
  }
  return [];
}

/** Replies wait for a stream, which any event opens: ui/kit/gradio/late_events.js. @type {Subject<null>} */
export const streamMissing = new Subject();

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

/** Whether the model in use also runs on the page without a server, which this one then offers. @type {Subject<boolean>} */
export const runsInBrowser = new Subject();

/**
 * A shared comparison from a file, for Compare to show: the name of the file, and what shows a token of a card in the inspector
 * and says under which name its run will be there, null if it is too large. null: the file was closed.
 * @type {Subject<{name: string, comparison: Record<string, any>, open: (card: number, index: number) => string | null} | null>}
 */
export const openedComparison = new Subject();

/** A link of the page that is to become one for a class (ui/classroom/class_links.js). @type {Subject<string>} */
export const classLinkWanted = new Subject();

/** The visitor has closed a file that the inspector showed in place of the tab's own run. @type {Subject<null>} */
export const fileClosed = new Subject();

/** The text in Write's box, whose tokens are to be scored. @type {Subject<string>} */
export const textToScore = new Subject();

/** The text in Write's box, whoever has changed it. @type {Subject<string>} */
export const writtenText = new Subject();

/** The tab that is in sight. @type {Subject<string>} */
export const shownTab = new Subject();

/** Bring a tab into sight, as a click on its entry does. @param {string} name @returns {boolean} whether it is offered */
export function showTab(name) {
  const entry = /** @type {HTMLElement | null} */ (document.querySelector(`#attend-tabs [data-name="${name}"] input, [role="tab"][data-name="${name}"]`));
  if (shownTab.latest !== name) entry?.click();
  return Boolean(entry);
}

/** Scroll to an answer once it is drawn, unless the visitor has changed tabs meanwhile. @param {Promise<Element | undefined>} drawn */
export async function scrollToAnswer(drawn) {
  const tab = shownTab.latest;
  const node = await drawn;
  if (shownTab.latest === tab) node?.scrollIntoView({ block: 'nearest' });
}

/** @type {(run: string | null, index: number) => boolean} */
let inspect = () => false;

/** The inspector says how a token is selected in it. @param {typeof inspect} select returns whether the run was at hand */
export const answerSelections = (select) => { inspect = select; };

/** @param {string | null} run @param {number} index @returns {boolean} whether the inspector has that run and shows the token */
export const selectToken = (run, index) => inspect(run, index);
