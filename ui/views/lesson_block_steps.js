/**
 * What the chapter on a block says: its parts and their steps, each with its formula, where that is in the code, and the
 * stages of the walk that it shows.
 *
 * In a formula W_Q has a subscript.
 *
 * @typedef {{name: string, formula: string, code: string, said: string, stages: [name: string, caption: string][],
 *   weights?: [name: string, caption: string][]}} BlockStep `weights`: shown on demand
 */

/** The steps of one attention, which differ in whose words ask and whose are looked at. */
const blockAttention = (name, { given, looked, code, said }) => [
  {
    name: 'Queries, keys, values', formula: `Q = ${given} W_Q,  K = ${looked} W_K,  V = ${looked} W_V`,
    code: `\`${code}\``, said: said.made,
    stages: [[`${name}.queries`, 'Queries Q'], [`${name}.keys`, 'Keys K'], [`${name}.values`, 'Values V']],
    weights: [
      [`${name}.queries_weights`, 'Query weights'], [`${name}.keys_weights`, 'Key weights'],
      [`${name}.values_weights`, 'Value weights'],
    ],
  },
  {
    name: 'Scores', formula: 'Q Kᵀ,  then / √D', code: '`attention_weights` in model/layers.py',
    said: said.scores,
    stages: [[`${name}.scores`, 'Scores Q Kᵀ'], [`${name}.scaled`, 'Scaled, / √D'], [`${name}.masked`, 'Masked']],
  },
  {
    name: 'Softmax and weighted sum', formula: 'A = softmax(scores),  A V', code: '`attend` in model/layers.py',
    said: said.weights,
    stages: [[`${name}.weights`, 'Weights A'], [`${name}.mixed`, 'Weighted sum A V']],
  },
  {
    name: 'Heads joined', formula: '[head 1, head 2, …] W_O', code: `\`${code.split('.')[0]}.output\``,
    said: said.joined,
    stages: [[`${name}.joined`, 'Joined'], [`${name}.output`, 'Times output weights']],
    weights: [[`${name}.output_weights`, 'Output weights']],
  },
  {
    name: 'Add and norm', formula: 'LayerNorm(x + attention(x))', code: '`Block._added` in model/layers.py',
    said: said.added,
    stages: [[`${name}.added`, 'After add'], [`${name}.spread`, 'Of each row'], [`${name}.normed`, 'After norm']],
  },
];

const blockFeedForward = (name, said) => [
  {
    name: 'Feed-forward', formula: 'max(0, x W₁ + b₁) W₂', code: '`FeedForward` in model/layers.py',
    said: said.made,
    stages: [[`${name}.before`, 'x W₁ + b₁'], [`${name}.after`, 'After ReLU'], [`${name}.output`, 'Times W₂']],
    weights: [[`${name}.first_weights`, 'W₁'], [`${name}.first_bias`, 'b₁'], [`${name}.second_weights`, 'W₂']],
  },
  {
    name: 'Add and norm', formula: 'LayerNorm(x + FeedForward(x))', code: '`Block._added` in model/layers.py',
    said: said.added,
    stages: [[`${name}.added`, 'After add'], [`${name}.spread`, 'Of each row'], [`${name}.normed`, 'After norm']],
  },
];

const blockEmbedding = (side, said) => [
  {
    name: 'Words become vectors', formula: 'E[id] · √6', code: '`Transformer._embedded`',
    said: said.embeddings, stages: [[`${side}.embeddings`, 'Embeddings']],
  },
  {
    name: 'Positions are added', formula: 'PE(pos, 2i) = sin(pos / 10000^(2i/6)),  PE(pos, 2i+1) = cos(same)',
    code: '`sinusoids` in model/layers.py', said: said.positions,
    stages: [[`${side}.positions`, 'Positions'], [`${side}.input`, 'Sum x']],
  },
];

/** @type {{title: string, open: boolean, steps: BlockStep[]}[]} */
const BLOCK_PARTS = [
  {
    title: 'The encoder: words in', open: true,
    steps: blockEmbedding('encoder', {
      embeddings: 'Every word has an id, and the id picks a row of the embedding matrix. The row is multiplied by √6, '
        + 'the root of its width, so that the positions do not drown it (Vaswani et al., 2017, section 3.4). The table '
        + 'holds the rows times √6 already. Those of “how”, “are” and “you” are a lecture’s; those of the other words '
        + 'are ours, drawn at random. Change any number.',
      positions: 'Attention has no idea of order, so every place gets a vector of its own, added to the word’s. Pairs '
        + 'of columns are waves of one length; here there is room for three.',
    }),
  },
  {
    title: 'The encoder: attention', open: true,
    steps: blockAttention('encoder.self', {
      given: 'x', looked: 'x', code: 'SelfAttention.queries_keys_values',
      said: {
        made: 'Each word asks (query), offers itself (key) and has something to give (value). The lecture prints Q, K '
          + 'and V, but not the weights that made them: ours are the smallest ones that do, by the pseudo-inverse. '
          + 'With several heads the six columns are dealt out to them.',
        scores: 'How well a word’s query fits another’s key is their dot product. With more numbers in a vector dot '
          + 'products grow, and softmax would choose one word and forget the rest; so they are divided by √D, the root '
          + 'of the numbers that a head has. The encoder needs no mask: you can give it one above.',
        weights: 'e to the power of each score, divided by the row’s sum: every row is positive and sums to 1. Then '
          + 'each word takes that share of every value.',
        joined: 'The heads’ results stand side by side again and are mixed by the output weights. The lecture '
          + 'prints only the sum of the next step, so these too are the smallest that lead there.',
        added: 'What attention found is added to what was there (the residual connection), then each row is given mean '
          + '0 and deviation 1. The deviation divides by 6, not by 5; a learned scale and shift would follow, which '
          + 'begin as 1 and 0.',
      },
    }),
  },
  {
    title: 'The encoder: feed-forward', open: true,
    steps: blockFeedForward('encoder.feed_forward', {
      made: 'Each word for itself: two layers with nothing negative let through between them. W₁ and b₁ are the '
        + 'lecture’s, W₂ is ours. Usually the inner layer is four times as wide.',
      added: 'The encoder’s last word: one vector for each word of the source, which the decoder will look at.',
    }),
  },
  {
    title: 'The decoder: words in', open: false,
    steps: blockEmbedding('decoder', {
      embeddings: 'The decoder reads its own answer, shifted right by the start sign <sos>: at every place it has seen '
        + 'only the words before the one it should say. The matrix E is the encoder’s.',
      positions: 'The same waves as in the encoder.',
    }),
  },
  {
    title: 'The decoder: masked self-attention', open: false,
    steps: blockAttention('decoder.self', {
      given: 'x', looked: 'x', code: 'SelfAttention.queries_keys_values',
      said: {
        made: 'As in the encoder, with weights of its own. All that the lecture does not tell is drawn at random here.',
        scores: 'All words of the answer go through at once, so the mask hides from each what comes after it: −∞ '
          + 'before the softmax is 0 after it.',
        weights: 'The first word can only look at itself.',
        joined: 'As before.',
        added: 'As before.',
      },
    }),
  },
  {
    title: 'The decoder: cross-attention', open: false,
    steps: blockAttention('decoder.cross', {
      given: 'x', looked: 'encoded', code: 'CrossAttention.look_up',
      said: {
        made: 'The queries come from the answer, the keys and values from what the encoder made of the source. There '
          + 'are as many keys as source words, whatever the answer’s length.',
        scores: 'A row for each word of the answer, a column for each of the source; nothing is hidden.',
        weights: 'These are the weights that Translate draws as lines between two sentences.',
        joined: 'As before.',
        added: 'As before.',
      },
    }),
  },
  {
    title: 'The decoder: feed-forward', open: false,
    steps: blockFeedForward('decoder.feed_forward', {
      made: 'As in the encoder, with weights of its own.',
      added: 'The last vectors: one for each place of the answer.',
    }),
  },
  {
    title: 'Words out: logits, softmax, loss', open: true,
    steps: [
      {
        name: 'Logits', formula: 'x Eᵀ', code: '`EncoderDecoder.forward`',
        said: 'A score for every word: the dot product with its embedding, the same matrix as at the entrance '
          + '(Press and Wolf, 2017), here without √6. Padding is never an answer and has none.',
        stages: [['output.logits', 'Logits']], weights: [['output.weights', 'Embeddings turned, Eᵀ']],
      },
      {
        name: 'Softmax and loss', formula: 'p = softmax(logits),  loss = −ln p(target)',
        code: '`cross_entropy`, as in training/translation.py',
        said: 'At each place the loss is minus the logarithm of the probability that the right next word was given: 0 '
          + 'for a sure and right one, ln 10 = 2.30 for a guess among ten. This model has learned nothing yet.',
        stages: [['output.probabilities', 'Probabilities'], ['output.losses', 'Loss of each target']],
      },
    ],
  },
];

/** Which numbers can be changed: stages that are a field of what is asked for. */
const BLOCK_EDITED = {
  'encoder.self.queries_weights': 'query_weights', 'encoder.self.keys_weights': 'key_weights',
  'encoder.self.values_weights': 'value_weights', 'encoder.feed_forward.first_weights': 'first_weights',
  'encoder.feed_forward.first_bias': 'first_bias',
};
