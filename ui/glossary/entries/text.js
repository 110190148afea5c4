/**
 * Entries on how a text becomes tokens, and what a model is given.
 */

/** @satisfies {Record<string, import('../entries.js').Entry>} */
export const TEXT = {
  'byte-fallback': {
    name: 'Byte fallback',
    text: 'A character that the vocabulary lacks is spelt as its bytes, each of which is a token. So no text is unknown.',
    chapter: 'tokens',
  },
  'byte-pairs': {
    name: 'Byte-pair encoding',
    text: 'Learns a vocabulary from texts: it begins with single characters or bytes and joins the most frequent pair of '
      + 'neighbours, again and again.',
    source: 'Sennrich, Haddow and Birch (2016), after Gage (1994)',
    chapter: 'vocabulary',
  },
  'chat-format': {
    name: 'Chat format',
    text: 'How a conversation is written as one text for the model, with reserved tokens that mark who speaks. Each chat model '
      + 'was trained on a format of its own, also called its chat template.',
    chapter: 'today',
  },
  'context-window': {
    name: 'Context window',
    text: 'How many tokens a model can take in at once, the prompt and its own answer together. It can’t see anything outside.',
    chapter: 'today',
  },
  'cosine': {
    name: 'Cosine similarity',
    text: 'How alike the directions of two vectors are: 1 for the same direction, 0 at a right angle, −1 for the opposite.',
    formula: '{a · b / |a| |b|}',
    chapter: 'vectors',
  },
  'dot-product': {
    name: 'Dot product',
    text: 'Multiply two vectors number by number and add up the results. It is large when both are long and point the same way.',
    formula: 'a · b = a₁b₁ + a₂b₂ + …',
    chapter: 'attention',
  },
  'embedding': {
    name: 'Embedding',
    text: 'The vector that stands for a token: a row of a matrix that the model learned, the same wherever the token appears.',
    chapter: 'vectors',
  },
  'end-token': {
    name: 'End token',
    text: 'The token that ends a text. It has a probability at every step, like any other; when it is chosen, the model stops.',
    chapter: 'generation',
  },
  'language-model': {
    name: 'Language model',
    text: 'A model that reads a text and gives every token of its vocabulary a probability of coming next.',
    chapter: 'generation',
  },
  'prompt': {
    name: 'Prompt',
    text: 'What the model is given before it writes: a text to continue, or the conversation so far.',
    chapter: 'generation',
  },
  'reserved-token': {
    name: 'Reserved token',
    text: 'A token that marks something about the text: where it begins or ends, or who speaks. Typing its name doesn’t make '
      + 'one. Also called a special token.',
    chapter: 'today',
  },
  'subword': {
    name: 'Subword',
    text: 'A piece between a character and a word. Frequent words stay whole, and rare ones are split into several pieces.',
    source: 'Sennrich, Haddow and Birch (2016)',
    chapter: 'vocabulary',
  },
  'token': {
    name: 'Token',
    text: 'The unit in which a model reads and writes: a word, part of a word, or a single character. Each has a number, its id.',
    chapter: 'tokens',
  },
  'tokenizer': {
    name: 'Tokenizer',
    text: 'Splits a text into tokens and puts tokens together again. Every model has the one that it was trained with.',
    chapter: 'tokens',
  },
  'vector': {
    name: 'Vector',
    text: 'A list of numbers. A model turns every token into one, and everything it computes is done with vectors.',
    chapter: 'vectors',
  },
  'vocabulary': {
    name: 'Vocabulary',
    text: 'All the tokens that a model knows, each with its id. At every step the model gives each of them a probability.',
    chapter: 'vocabulary',
  },
};
