/**
 * Entries on training, and how a model or a text is measured.
 */

/** @satisfies {Record<string, import('../entries.js').Entry>} */
export const TRAINING = {
  'adam': {
    name: 'Adam',
    text: 'The usual way to turn gradients into changes of the parameters: it averages each parameter’s gradient over recent '
      + 'steps and divides by its typical size.',
    formula: 'Δw = −η · {m̂ / √v̂ + ε}',
    source: 'Kingma and Ba (2015)',
    chapter: 'training',
  },
  'backpropagation': {
    name: 'Backpropagation',
    text: 'Computes the gradient of all parameters in one pass from the loss back to the input, by the chain rule.',
    source: 'Rumelhart, Hinton and Williams (1986)',
    chapter: 'training',
  },
  'bits': {
    name: 'Bits and nats',
    text: 'Units of surprise and uncertainty. One bit is a choice between two equally likely options; a nat, which natural '
      + 'logarithms give, is 1.44 bits.',
    source: 'Bits: Shannon (1948)',
  },
  'bleu': {
    name: 'BLEU',
    text: 'Scores a translation from 0 to 100 by how many of its words and short phrases also appear in a person’s translation.',
    source: 'Papineni et al. (2002)',
    chapter: 'why_attention',
  },
  'distinct-2': {
    name: 'Distinct-2',
    help: 'distinct_2',
    source: 'Li et al. (2016)',
  },
  'dropout': {
    name: 'Dropout',
    text: 'In each training step, a random share of numbers is set to 0, so that no part of the network can rely on a single one. '
      + 'After training it is switched off.',
    source: 'Srivastava et al. (2014)',
    chapter: 'training',
  },
  'entropy': {
    name: 'Entropy',
    text: 'How uncertain a choice is, in bits: 0 when one token is certain, and one more each time the number of equally likely '
      + 'tokens doubles.',
    formula: '−Σ p log₂ p',
    source: 'Shannon (1948)',
  },
  'fine-tuning': {
    name: 'Pre-training and fine-tuning',
    text: 'First a model learns from very many texts: a decoder to predict the next token, an encoder to fill in masked ones. Then '
      + 'it learns from fewer, chosen texts what it is meant for, such as answering.',
    chapter: 'training',
  },
  'gradient': {
    name: 'Gradient',
    text: 'The slope of the loss along every parameter: how fast the loss rises as that parameter grows. Training steps the '
      + 'other way.',
    chapter: 'training',
  },
  'learning-rate': {
    name: 'Learning rate',
    text: 'How far a training step moves the parameters. Too small and training takes for ever; too large and the loss jumps.',
    chapter: 'training',
  },
  'log-probability': {
    name: 'Log-probability',
    text: 'The natural logarithm of a probability: 0 for a certain token, ever further below 0 for less likely ones. Those of a '
      + 'text’s tokens add up to that of the text.',
    formula: 'ln p',
  },
  'loss': {
    name: 'Loss',
    text: 'How wrong a model is, as one number that training lowers: minus the logarithm of the probability that it gave the '
      + 'right token, averaged. This loss is called cross-entropy.',
    formula: '−ln p(target)',
    chapter: 'training',
  },
  'perplexity': {
    name: 'Perplexity',
    text: 'How many equally likely tokens a model seems to choose among, on average: 1 if it is always certain, and the size of the '
      + 'vocabulary if it guesses blindly.',
    formula: 'e^(−mean(ln p))',
    source: 'Jelinek et al. (1977)',
    chapter: 'training',
  },
  'probability': {
    name: 'Probability',
    text: 'How likely a token is to come next, from 0 to 100 %. Those of all tokens in the vocabulary add up to 100 %.',
    chapter: 'generation',
  },
  'surprisal': {
    name: 'Surprisal',
    text: 'How unexpected a token is: 0 bits if it was certain, and one more each time its probability halves. The '
      + 'expected surprisal of a token is the entropy.',
    formula: '−log₂ p',
    source: 'Shannon (1948); the name: Tribus (1961)',
  },
  'teacher-forcing': {
    name: 'Teacher forcing',
    text: 'In training, the decoder reads the correct text so far and not its own guesses. With a look-ahead mask, a transformer '
      + 'then learns all positions in one pass; a recurrent network still goes step by step.',
    source: 'Williams and Zipser (1989)',
    chapter: 'training',
  },
  'variance': {
    name: 'Variance',
    text: 'How far numbers lie from their mean: the average of the squared distances. Its root, the standard deviation, is a '
      + 'typical distance.',
    formula: 'mean((x − mean(x))²)',
    chapter: 'attention',
  },
  'warm-up': {
    name: 'Warm-up',
    text: 'The first steps of training, in which the learning rate grows from almost nothing to its full size, so that the '
      + 'first gradients do no harm.',
    source: 'For transformers: Vaswani et al. (2017)',
    chapter: 'today',
  },
};
