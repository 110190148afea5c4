/**
 * The chapters of the course, in the order in which they are read. A chapter's script is fetched when it is opened.
 *
 * @typedef {{title: string, aim: string, minutes: number, load: () => Promise<{build: import('./lesson.js').Build}>}} Chapter
 *   `aim`: what a reader can do afterwards; `minutes`: what it takes to read it and to try its examples
 */

/** @type {Record<string, Chapter>} */
export const CHAPTERS = {
  tokens: {
    title: 'Tokens, side by side', aim: 'See how a text becomes a list of numbers, and what each way of splitting it costs.',
    minutes: 5, load: () => import('./tokens/chapter.js'),
  },
  vocabulary: {
    title: 'A vocabulary of your own', aim: 'Learn a subword vocabulary from a few sentences, merge by merge.',
    minutes: 6, load: () => import('./vocabulary/chapter.js'),
  },
  vectors: {
    title: 'Words as vectors', aim: 'Find out what a model knows about a word before it has read a sentence.',
    minutes: 10, load: () => import('./vectors/chapter.js'),
  },
  positions: {
    title: 'Positions', aim: 'Understand how word order gets into vectors, and why waves do it well.',
    minutes: 10, load: () => import('./positions/chapter.js'),
  },
  attention: {
    title: 'Attention by hand', aim: 'Compute attention yourself: similarities, weights, a weighted sum, a mask.',
    minutes: 10, load: () => import('./attention/chapter.js'),
  },
  heads: {
    title: 'Several heads', aim: 'Split one attention into several, join them again, and see what real heads do.',
    minutes: 10, load: () => import('./heads/chapter.js'),
  },
  block: {
    title: 'A block by hand', aim: 'Follow every number through one encoder layer and one decoder layer.',
    minutes: 20, load: () => import('./block/chapter.js'),
  },
  recurrence: {
    title: 'Why attention', aim: 'See what one vector can’t hold, and how attention gets around it.',
    minutes: 15, load: () => import('./recurrence/chapter.js'),
  },
  training: {
    title: 'One training step', aim: 'Take a training step and see what it changes: loss, gradient, Adam.',
    minutes: 15, load: () => import('./training/chapter.js'),
  },
  generation: {
    title: 'How a text is generated', aim: 'Write a text token by token, and see what each setting does to a step.',
    minutes: 15, load: () => import('./generation/chapter.js'),
  },
  sentences: {
    title: 'Attention in real sentences', aim: 'Look at what the heads of a trained model attend to.',
    minutes: 6, load: () => import('./sentences/chapter.js'),
  },
  context: {
    title: 'A word in its context', aim: 'See what a single vector per word can’t say, and how a model tells meanings apart.',
    minutes: 8, load: () => import('./context/chapter.js'),
  },
  today: {
    title: 'From this block to today’s models', aim: 'See what has changed since 2017, count a model’s parameters, and time its cache.',
    minutes: 8, load: () => import('./today/chapter.js'),
  },
};
