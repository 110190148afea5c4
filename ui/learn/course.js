/**
 * The chapters of the course in the order in which they are read, as their texts on the server name them.
 *
 * @typedef {{title: string, aim: string, minutes: number}} Chapter `aim`: what a reader can do afterwards
 */

/** @type {Record<string, Chapter>} empty until the course is there */
export const CHAPTERS = {};

/** Drawings of chapters; a script is fetched when its chapter is opened. @type {Record<string, () => Promise<import('./text/chapter_text.js').ChapterScript>>} */
export const SCRIPTS = {
  tokens: () => import('./chapters/tokens.js'),
  vocabulary: () => import('./chapters/vocabulary.js'),
  vectors: () => import('./chapters/vectors.js'),
  positions: () => import('./chapters/positions.js'),
  attention: () => import('./chapters/attention.js'),
  block: () => import('./chapters/block.js'),
  recurrence: () => import('./chapters/recurrence.js'),
  training: () => import('./chapters/training.js'),
  generation: () => import('./chapters/generation.js'),
  sentences: () => import('./chapters/sentences.js'),
  context: () => import('./chapters/context.js'),
  today: () => import('./chapters/today.js'),
};
