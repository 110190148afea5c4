/**
 * Entries on how the next token is chosen.
 */

/** @satisfies {Record<string, import('../entries.js').Entry>} */
export const DECODING = {
  'beam': {
    name: 'Beam',
    text: 'One of the texts that beam search follows side by side. Their number is called the beam width.',
    help: 'num_beams',
    chapter: 'generation',
  },
  'beam-search': {
    name: 'Beam search',
    text: 'At every step it scores the continuations of all the texts it follows and keeps the best. It often finds a more '
      + 'probable text than greedy decoding, but not always the most probable one.',
    help: 'beam',
    source: 'Lowerre (1976)',
    chapter: 'generation',
  },
  'candidate': {
    name: 'Candidate',
    text: 'A token that can be chosen at this step. At first all tokens of the vocabulary are candidates; filters remove some.',
    chapter: 'generation',
  },
  'contrastive-search': {
    name: 'Contrastive search',
    text: 'Of the k most probable tokens it takes one that is probable and whose vector is unlike those of the text so far.',
    help: 'contrastive',
    source: 'Su et al. (2022)',
  },
  'diverse-beams': {
    name: 'Diverse beams',
    text: 'Its texts differ more than those of plain beam search, which often differ by only a word or two.',
    help: 'diverse_beam',
    source: 'Vijayakumar et al. (2018)',
  },
  'dola': {
    name: 'DoLa',
    text: 'Decoding by contrasting layers: it subtracts the prediction of a lower layer from that of the last one.',
    help: 'dola',
    source: 'Chuang et al. (2024)',
  },
  'dry': {
    name: 'DRY',
    help: 'dry_multiplier',
  },
  'eta-cutoff': {
    name: 'Epsilon and eta cutoff',
    text: 'The epsilon cutoff removes all tokens below a fixed probability.',
    help: 'eta_cutoff',
    source: 'Hewitt, Manning and Liang (2022)',
  },
  'filter': {
    name: 'Filter',
    text: 'A rule that changes the probabilities before a token is chosen: it removes candidates, or makes some more or less '
      + 'likely.',
    help: 'order',
    chapter: 'generation',
  },
  'frequency-penalty': {
    name: 'Frequency penalty',
    help: 'frequency_penalty',
    formula: 'logit − penalty · times used',
    source: 'OpenAI’s API',
    chapter: 'generation',
  },
  'greedy': {
    name: 'Greedy decoding',
    text: 'Nothing is left to chance, so the same prompt gives the same text.',
    help: 'greedy',
    chapter: 'generation',
  },
  'length-penalty': {
    name: 'Length penalty',
    text: 'Without it, beam search would favour short texts, since every token makes a text less probable.',
    help: 'length_penalty',
    formula: '{log-probability / length^penalty}',
  },
  'logit': {
    name: 'Logit',
    text: 'The score that a model gives a token: any number, higher for likelier tokens. Softmax turns all of them into '
      + 'probabilities.',
    formula: 'p = softmax(logits)',
    chapter: 'generation',
  },
  'logit-bias': {
    name: 'Logit bias',
    help: 'logit_bias',
    formula: 'logit + bias',
  },
  'min-p': {
    name: 'Min-p',
    help: 'min_p',
    formula: 'keeps p ≥ min-p · highest p',
    source: 'Nguyen et al. (2024)',
  },
  'mirostat': {
    name: 'Mirostat',
    help: 'mirostat_mode',
    source: 'Basu et al. (2021)',
  },
  'n-gram': {
    name: 'N-gram',
    text: 'A sequence of n neighbouring tokens: a pair is a 2-gram, or bigram.',
    help: 'no_repeat_ngram_size',
    source: 'The setting: Paulus, Xiong and Socher (2018)',
  },
  'presence-penalty': {
    name: 'Presence penalty',
    help: 'presence_penalty',
    formula: 'logit − penalty, if used before',
    source: 'OpenAI’s API',
    chapter: 'generation',
  },
  'repetition-penalty': {
    name: 'Repetition penalty',
    text: 'A logit above 0 is divided by it, one below 0 multiplied.',
    help: 'repetition_penalty',
    source: 'Keskar et al. (2019); the rule for logits below 0: transformers',
  },
  'sampling': {
    name: 'Sampling',
    text: 'Each token has a stretch of the line from 0 to 1, as long as its probability. A random number is drawn, and the token '
      + 'whose stretch it falls on is chosen.',
    help: 'sample',
    chapter: 'generation',
  },
  'seed': {
    name: 'Seed',
    text: 'The number from which all random draws of a run are computed.',
    help: 'seed',
  },
  'temperature': {
    name: 'Temperature',
    text: 'Every logit is divided by it before the softmax, which flattens the probabilities or sharpens them.',
    help: 'temperature',
    formula: 'softmax({logits / T})',
    source: 'Ackley, Hinton and Sejnowski (1985)',
    chapter: 'generation',
  },
  'top-k': {
    name: 'Top-k',
    help: 'top_k',
    source: 'Fan, Lewis and Dauphin (2018)',
    chapter: 'generation',
  },
  'top-p': {
    name: 'Top-p, nucleus sampling',
    text: 'Few tokens are left where the model is sure, and many where it isn’t.',
    help: 'top_p',
    source: 'Holtzman et al. (2020)',
    chapter: 'generation',
  },
  'typical': {
    name: 'Typical-p',
    help: 'typical_p',
    formula: 'smallest |surprisal − entropy| first',
    source: 'Meister et al. (2023)',
  },
  'xtc': {
    name: 'XTC',
    text: 'It cuts away the obvious choices, so that texts get less predictable.',
    help: 'xtc_probability',
  },
};
