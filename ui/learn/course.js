/**
 * The chapters of the course in the order in which they are read, as their texts on the server name them.
 *
 * @typedef {{title: string, aim: string, minutes: number, here: {form: string, kinds: string[], words: string} | null}} Chapter `aim`: what a
 *   reader can do afterwards; `here`: the parts of the map that it explains, and the map's form
 */

/** @type {Record<string, Chapter>} empty until the course is there */
export const CHAPTERS = {};

/** Drawings of chapters; a script is fetched when its chapter is opened. @type {Record<string, () => Promise<import('./text/chapter_text.js').ChapterScript>>} */
export const SCRIPTS = {
  tokens: () => import('./chapters/drawings/tokens.js'),
  vocabulary: () => import('./chapters/drawings/vocabulary.js'),
  vectors: () => import('./chapters/drawings/vectors.js'),
  positions: () => import('./chapters/drawings/positions.js'),
  attention: () => import('./chapters/drawings/attention.js'),
  attention_by_hand: () => import('./chapters/drawings/attention_by_hand.js'),
  block: () => import('./chapters/drawings/block.js'),
  why_attention: () => import('./chapters/drawings/why_attention.js'),
  training: () => import('./chapters/drawings/training.js'),
  generation: () => import('./chapters/drawings/generation.js'),
  sentences: () => import('./chapters/drawings/sentences.js'),
  context: () => import('./chapters/drawings/context.js'),
  today: () => import('./chapters/drawings/today.js'),
};
