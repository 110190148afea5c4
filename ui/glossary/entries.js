/**
 * What the glossary says about each term.
 *
 * @typedef {{name: string, text?: string, help?: string, formula?: string, source?: string, chapter?: string}} Entry
 *   `text`: one or two sentences; `help`: the name of the page's own explanation (helps.js), which is not repeated here;
 *   `formula`: in the notation of kit/js/formula.js; `source`: who introduced it; `chapter`: the key of the chapter that shows it
 */

import { DECODING } from './entries/decoding.js';
import { NETWORK } from './entries/network.js';
import { TEXT } from './entries/text.js';
import { TRAINING } from './entries/training.js';

/** @type {Record<import('./terms.js').Term, Entry>} */
export const ENTRIES = { ...DECODING, ...NETWORK, ...TEXT, ...TRAINING };
