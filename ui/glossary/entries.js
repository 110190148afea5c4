/**
 * What the glossary says about each term.
 *
 * @typedef {{name: string, text?: string, help?: string, formula?: string, source?: string, chapter?: string}} Entry
 *   `text`: one or two sentences; `help`: the name under which the page has a sentence of its own (helps.js), which is not
 *   repeated here; `formula`: of what is said; `source`: who introduced it; `chapter`: the key of the chapter of Learn that
 *   shows it
 */

/** @type {Record<string, Entry>} by the names in terms.js */
export const ENTRIES = {
  'activation': {
    name: 'Activation function',
    text: 'A curve that every number passes through between two matrix multiplications. Without it, the two would be no more '
      + 'than one.',
    formula: 'ReLU(x) = max(0, x), SiLU(x) = x / (1 + e⁻ˣ)',
    source: 'GELU and SiLU: Hendrycks and Gimpel (2016)',
    chapter: 'today',
  },
  'adam': {
    name: 'Adam',
    text: 'The usual way to turn gradients into changes of the parameters: it averages each parameter’s gradient over the last '
      + 'steps and divides by its typical size.',
    formula: 'Δw = −η · m̂ / (√v̂ + ε)',
    source: 'Kingma and Ba (2015)',
    chapter: 'training',
  },
  'alignment': {
    name: 'Alignment',
    text: 'Which words of the source each word of a translation comes from. A translator’s cross-attention shows it roughly.',
    source: 'Brown et al. (1993)',
    chapter: 'recurrence',
  },
  'attention': {
    name: 'Attention',
    text: 'How a token takes in what others say: it weighs all tokens that it may see, and its new vector is the weighted sum of '
      + 'what they give. The weights add up to 1.',
    formula: 'softmax(Q Kᵀ / √d) V',
    source: 'Bahdanau, Cho and Bengio (2015); in this form Vaswani et al. (2017)',
    chapter: 'attention',
  },
  'attention-sink': {
    name: 'Attention sink',
    text: 'The first token, where heads often leave the attention that they have no use for: their weights must add up to 1, so '
      + 'they have to go somewhere.',
    source: 'Xiao et al. (2024)',
    chapter: 'sentences',
  },
  'backpropagation': {
    name: 'Backpropagation',
    text: 'Computes the gradient of all parameters in one pass from the loss back to the input, by the chain rule.',
    source: 'Rumelhart, Hinton and Williams (1986)',
    chapter: 'training',
  },
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
  'bits': {
    name: 'Bits and nats',
    text: 'Units of surprise and uncertainty. One bit is a choice between two equally likely options; a nat, which natural '
      + 'logarithms give, is 1.44 bits.',
    source: 'bits: Shannon (1948)',
  },
  'bleu': {
    name: 'BLEU',
    text: 'Scores a translation from 0 to 100 by how many of its words and short phrases also stand in a person’s translation.',
    source: 'Papineni et al. (2002)',
    chapter: 'recurrence',
  },
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
  'cache': {
    name: 'Key/value cache',
    text: 'The keys and values of all tokens so far, kept in memory so that only the newest token has to be computed at each step.',
    chapter: 'today',
  },
  'candidate': {
    name: 'Candidate',
    text: 'A token that can be chosen at this step. At first all tokens of the vocabulary are candidates; filters remove some.',
    chapter: 'generation',
  },
  'chat-format': {
    name: 'Chat format',
    text: 'How a conversation is written as one text for the model, with reserved tokens that mark who speaks. Each chat model '
      + 'was trained on a format of its own, also called its chat template.',
    chapter: 'today',
  },
  'context-vector': {
    name: 'Context vector',
    text: 'What attention hands to the decoder for one word: the sum of the encoder’s states, weighted by how well each fits.',
    source: 'Bahdanau, Cho and Bengio (2015)',
    chapter: 'recurrence',
  },
  'context-window': {
    name: 'Context window',
    text: 'How many tokens a model can take in at once, the prompt and its own answer together. What is outside, it cannot see.',
    chapter: 'today',
  },
  'contrastive-search': {
    name: 'Contrastive search',
    text: 'Of the k most probable tokens it takes one that is probable and whose vector is unlike those of the text so far.',
    help: 'contrastive',
    source: 'Su et al. (2022)',
  },
  'cosine': {
    name: 'Cosine similarity',
    text: 'How alike the directions of two vectors are: 1 for the same direction, 0 at a right angle, −1 for the opposite.',
    formula: 'a · b / (|a| |b|)',
    chapter: 'vectors',
  },
  'cross-attention': {
    name: 'Cross-attention',
    text: 'Attention from one text to another: in a translator, the queries come from the translation, the keys and values from '
      + 'the source.',
    chapter: 'heads',
  },
  'decoder': {
    name: 'Decoder',
    text: 'The part of a transformer that writes. Each of its tokens sees only itself and what comes before it. Most chat models '
      + 'are a decoder alone.',
    chapter: 'today',
  },
  'distinct-2': {
    name: 'Distinct-2',
    help: 'distinct_2',
    source: 'Li et al. (2016)',
  },
  'diverse-beams': {
    name: 'Diverse beams',
    text: 'Its texts differ more than those of plain beam search, which often differ in a word or two.',
    help: 'diverse_beam',
    source: 'Vijayakumar et al. (2018)',
  },
  'dola': {
    name: 'DoLa',
    text: 'Decoding by contrasting layers: it subtracts the prediction of a lower layer from that of the last one.',
    help: 'dola',
    source: 'Chuang et al. (2024)',
  },
  'dot-product': {
    name: 'Dot product',
    text: 'Multiply two vectors number by number and add up the results. It is large when both are long and point the same way.',
    formula: 'a · b = a₁b₁ + a₂b₂ + …',
    chapter: 'attention',
  },
  'dry': {
    name: 'DRY',
    help: 'dry_multiplier',
  },
  'embedding': {
    name: 'Embedding',
    text: 'The vector that stands for a token: a row of a matrix that the model learned, the same wherever the token appears.',
    chapter: 'vectors',
  },
  'encoder': {
    name: 'Encoder',
    text: 'The part of a transformer that reads: every token sees the whole text, before and after it. Its output is one vector '
      + 'for each token.',
    chapter: 'today',
  },
  'encoder-decoder': {
    name: 'Encoder-decoder',
    text: 'A model that reads one text with an encoder and writes another with a decoder, as translators do.',
    source: 'Cho et al. (2014); Sutskever, Vinyals and Le (2014)',
    chapter: 'today',
  },
  'end-token': {
    name: 'End token',
    text: 'The token that ends a text. It has a probability at every step, like any other; when it is chosen, the model stops.',
    chapter: 'generation',
  },
  'entropy': {
    name: 'Entropy',
    text: 'How uncertain a choice is, in bits: 0 when one token is certain, and one more each time the number of equally likely '
      + 'tokens doubles.',
    formula: '−Σ p log₂ p',
    source: 'Shannon (1948)',
  },
  'eta-cutoff': {
    name: 'Epsilon and eta cutoff',
    text: 'Both remove tokens below a fixed probability; eta lowers the bar when the model is unsure.',
    help: 'eta_cutoff',
    source: 'Hewitt, Manning and Liang (2022)',
  },
  'feed-forward': {
    name: 'Feed-forward network',
    text: 'The second half of a layer: two matrix multiplications with an activation function in between, for each token on its '
      + 'own. In large models it holds most of the parameters.',
    formula: 'max(0, x W₁ + b₁) W₂ + b₂',
    source: 'in this form Vaswani et al. (2017)',
    chapter: 'block',
  },
  'filter': {
    name: 'Filter',
    text: 'A rule that changes the probabilities before a token is chosen: it removes candidates, or makes some more or less '
      + 'likely.',
    help: 'order',
    chapter: 'generation',
  },
  'fine-tuning': {
    name: 'Pre-training and fine-tuning',
    text: 'First a model learns to predict the next token of very many texts. Then it learns from fewer, chosen ones what it is '
      + 'meant for, such as answering.',
    chapter: 'today',
  },
  'frequency-penalty': {
    name: 'Frequency penalty',
    help: 'frequency_penalty',
    formula: 'logit − penalty · times used',
    source: 'OpenAI’s API',
    chapter: 'generation',
  },
  'gradient': {
    name: 'Gradient',
    text: 'The slope of the loss along every parameter: how fast the loss rises as that parameter grows. Training steps the '
      + 'other way.',
    chapter: 'training',
  },
  'greedy': {
    name: 'Greedy decoding',
    text: 'Nothing is left to chance, so the same prompt gives the same text.',
    help: 'greedy',
    chapter: 'generation',
  },
  'gru': {
    name: 'Recurrent network, GRU',
    text: 'Reads a text word by word and carries one vector, its state, from each word to the next. A GRU has two gates that '
      + 'decide how much of the state to keep.',
    formula: 'h′ = (1 − z) · n + z · h',
    source: 'Cho et al. (2014) for the GRU',
    chapter: 'recurrence',
  },
  'head': {
    name: 'Head',
    text: 'A layer computes attention several times side by side; each of these is a head, with queries, keys and values of its '
      + 'own. So each can look for something else.',
    source: 'Vaswani et al. (2017)',
    chapter: 'heads',
  },
  'language-model': {
    name: 'Language model',
    text: 'A model that reads a text and gives every token of its vocabulary a probability of coming next.',
    chapter: 'generation',
  },
  'layer': {
    name: 'Layer',
    text: 'One stage of a network, which works on what the stage before it made. In a transformer, each layer has attention and '
      + 'then a feed-forward network.',
    chapter: 'block',
  },
  'layer-norm': {
    name: 'LayerNorm',
    text: 'Shifts and scales the numbers of a vector to mean 0 and standard deviation 1, then applies a learned scale and shift. '
      + 'It keeps training stable.',
    formula: '(x − mean) / deviation · g + b',
    source: 'Ba, Kiros and Hinton (2016)',
    chapter: 'block',
  },
  'learning-rate': {
    name: 'Learning rate',
    text: 'How far a training step moves the parameters. Too small and training takes for ever; too large and the loss jumps.',
    chapter: 'training',
  },
  'length-penalty': {
    name: 'Length penalty',
    text: 'Without it, beam search would favour short texts, since every token makes a text less probable.',
    help: 'length_penalty',
    formula: 'log-probability / lengthᵃ',
  },
  'log-probability': {
    name: 'Log-probability',
    text: 'The natural logarithm of a probability: 0 for a certain token, ever further below 0 for less likely ones. Those of a '
      + 'text’s tokens add up to that of the text.',
    formula: 'ln p',
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
  'loss': {
    name: 'Loss',
    text: 'How wrong a model is, as one number that training lowers: minus the logarithm of the probability that it gave the '
      + 'right token, averaged. Also called cross-entropy.',
    formula: '−ln p(target)',
    chapter: 'training',
  },
  'mask': {
    name: 'Mask',
    text: 'Hides tokens from others: their scores become −∞ before the softmax, so their weights become 0. A decoder’s mask hides '
      + 'all that comes later.',
    chapter: 'attention',
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
    source: 'the setting: Paulus, Xiong and Socher (2018)',
  },
  'parameter': {
    name: 'Parameter',
    text: 'A number that training sets, also called a weight. A model’s size is how many it has. The settings of decoding are '
      + 'called parameters, too.',
    chapter: 'today',
  },
  'perplexity': {
    name: 'Perplexity',
    text: 'How many equally likely tokens a model seems to choose among: 1 if it is always certain, and the size of the '
      + 'vocabulary if it guesses blindly.',
    help: 'perplexity',
    formula: 'exp(mean of −ln p)',
    source: 'Jelinek et al. (1977)',
    chapter: 'training',
  },
  'position-encoding': {
    name: 'Position encoding',
    text: 'Attention alone ignores order. So the first transformers add to each word’s vector one for its position, made of '
      + 'waves of different lengths.',
    formula: 'sin(pos / 10000^(2i/d)), cos(pos / 10000^(2i/d))',
    source: 'Vaswani et al. (2017)',
    chapter: 'positions',
  },
  'presence-penalty': {
    name: 'Presence penalty',
    help: 'presence_penalty',
    formula: 'logit − penalty, if used before',
    source: 'OpenAI’s API',
    chapter: 'generation',
  },
  'probability': {
    name: 'Probability',
    text: 'How likely a token is to come next, from 0 to 100 %. Those of all tokens in the vocabulary add up to 100 %.',
    chapter: 'generation',
  },
  'prompt': {
    name: 'Prompt',
    text: 'What the model is given before it writes: a text to continue, or the conversation so far.',
    chapter: 'generation',
  },
  'query': {
    name: 'Query, key and value',
    text: 'Three vectors that each token gets in a head: what it asks for, what it can be found by, and what it gives. A token '
      + 'attends to those whose keys fit its query.',
    formula: 'Q = X W_Q, K = X W_K, V = X W_V',
    source: 'in this form Vaswani et al. (2017)',
    chapter: 'attention',
  },
  'repetition-penalty': {
    name: 'Repetition penalty',
    text: 'A logit above 0 is divided by it, one below 0 multiplied.',
    help: 'repetition_penalty',
    source: 'Keskar et al. (2019)',
  },
  'reserved-token': {
    name: 'Reserved token',
    text: 'A token that marks something about the text: where it begins or ends, or who speaks. Typing its name doesn’t make '
      + 'one. Also called a special token.',
    chapter: 'today',
  },
  'residual': {
    name: 'Residual connection',
    text: 'What a part computes is added to what went in, so each part only has to learn a change, and gradients reach the '
      + 'lowest layers.',
    formula: 'x + f(x)',
    source: 'He et al. (2016)',
    chapter: 'block',
  },
  'rms-norm': {
    name: 'RMSNorm',
    text: 'A simpler LayerNorm: divides a vector by the root mean square of its numbers and leaves the mean alone.',
    formula: 'x / √mean(x²) · g',
    source: 'Zhang and Sennrich (2019)',
    chapter: 'today',
  },
  'rotary-positions': {
    name: 'Rotary positions',
    text: 'Turns every query and key by an angle that grows with its position, so their dot product depends on how far apart the '
      + 'two are.',
    source: 'Su et al. (2021)',
    chapter: 'positions',
  },
  'sampling': {
    name: 'Sampling',
    text: 'Each token has a part of the line from 0 to 1, as long as its probability. A random number is drawn, and the token '
      + 'whose part it falls on is chosen.',
    help: 'sample',
    chapter: 'generation',
  },
  'seed': {
    name: 'Seed',
    text: 'The number from which all random draws of a run are computed.',
    help: 'seed',
  },
  'self-attention': {
    name: 'Self-attention',
    text: 'Attention within one text: queries, keys and values all come from its own tokens.',
    chapter: 'heads',
  },
  'softmax': {
    name: 'Softmax',
    text: 'Turns any list of numbers into positive ones that add up to 1. Only differences count: whoever leads by 1 gets 2.72 '
      + 'times as much.',
    formula: 'e^zᵢ / Σⱼ e^zⱼ',
    source: 'the name: Bridle (1990)',
    chapter: 'attention',
  },
  'subword': {
    name: 'Subword',
    text: 'A piece between a character and a word. Frequent words stay whole, and rare ones are split into several pieces.',
    source: 'Sennrich, Haddow and Birch (2016)',
    chapter: 'vocabulary',
  },
  'surprisal': {
    name: 'Surprisal',
    text: 'How unexpected a token is: 0 bits if it was certain, and one more each time its probability halves. The '
      + 'surprisal to be expected is the entropy.',
    formula: '−log₂ p',
    source: 'Shannon (1948); the name: Tribus (1961)',
  },
  'swiglu': {
    name: 'SwiGLU',
    text: 'A feed-forward network whose inner numbers are the product of two projections, one of them passed through SiLU.',
    formula: '(SiLU(x W) ⊙ x V) W₂',
    source: 'Shazeer (2020)',
    chapter: 'today',
  },
  'teacher-forcing': {
    name: 'Teacher forcing',
    text: 'In training, the decoder reads the correct text so far and not its own guesses, so all positions can be learned in '
      + 'one pass.',
    source: 'Williams and Zipser (1989)',
    chapter: 'training',
  },
  'temperature': {
    name: 'Temperature',
    text: 'Every logit is divided by it before the softmax, which flattens the probabilities or sharpens them.',
    help: 'temperature',
    formula: 'softmax(logits / T)',
    source: 'Ackley, Hinton and Sejnowski (1985)',
    chapter: 'generation',
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
  'transformer': {
    name: 'Transformer',
    text: 'The kind of network behind today’s language models: layers of attention and feed-forward networks, which work on all '
      + 'positions of a text at once.',
    source: 'Vaswani et al. (2017)',
    chapter: 'block',
  },
  'typical': {
    name: 'Typical sampling',
    help: 'typical_p',
    formula: 'closest first: |−log p − entropy|',
    source: 'Meister et al. (2023)',
  },
  'vector': {
    name: 'Vector',
    text: 'A list of numbers. A model turns every token into one, and all that it computes is done on vectors.',
    chapter: 'vectors',
  },
  'vocabulary': {
    name: 'Vocabulary',
    text: 'All the tokens that a model knows, each with its id. At every step the model gives each of them a probability.',
    chapter: 'vocabulary',
  },
  'xtc': {
    name: 'XTC',
    text: 'It cuts away the obvious choices, so that texts get less predictable.',
    help: 'xtc_probability',
  },
};
