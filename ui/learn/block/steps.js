/**
 * What the chapter on a block says: its parts and their steps, each with its formula, where that is in the code, and the
 * stages of the walk that it shows.
 *
 * Formulas are written as kit/js/formula.js reads them.
 *
 * @typedef {{name: string, formula: string, code: string, text: string, stages: [name: string, caption: string][],
 *   weights?: [name: string, caption: string][]}} BlockStep `weights`: shown on demand
 */

/** The steps of one attention, which differ in where queries and keys come from. @returns {BlockStep[]} */
const attentionSteps = (name, { given, looked, code, text, call = 'attention(x)' }) => [
  {
    name: 'Queries, keys, values', formula: `Q = ${given} W_Q,  K = ${looked} W_K,  V = ${looked} W_V`,
    code: `\`${code}\``, text: text.made,
    stages: [[`${name}.queries`, 'Queries Q'], [`${name}.keys`, 'Keys K'], [`${name}.values`, 'Values V']],
    weights: [
      [`${name}.queries_weights`, 'Query weights'], [`${name}.keys_weights`, 'Key weights'],
      [`${name}.values_weights`, 'Value weights'],
    ],
  },
  {
    name: 'Scores', formula: 'Q Kᵀ,  {Q Kᵀ / √D}', code: '`attention_weights` in model/transformer/attention.py',
    text: text.scores,
    stages: [[`${name}.scores`, 'Scores Q Kᵀ'], [`${name}.scaled`, 'Scaled, / √D'], [`${name}.masked`, 'Masked']],
  },
  {
    name: 'Softmax and weighted sum', formula: 'A = softmax(scores),  A V', code: '`attend` in model/transformer/attention.py',
    text: text.weights,
    stages: [[`${name}.weights`, 'Weights A'], [`${name}.mixed`, 'Weighted sum A V']],
  },
  {
    name: 'Heads joined', formula: '[head 1, head 2, …] W_O', code: `\`${code.split('.')[0]}.o_proj\``,
    text: text.joined,
    stages: [[`${name}.joined`, 'Joined'], [`${name}.output`, 'Times output weights']],
    weights: [[`${name}.output_weights`, 'Output weights']],
  },
  {
    name: 'Add and norm', formula: `LayerNorm(x + ${call})`, code: '`Block._add` in model/transformer/layers.py',
    text: text.added,
    stages: [[`${name}.added`, 'After add'], [`${name}.spread`, 'Of each row'], [`${name}.normed`, 'After norm']],
  },
];

/** @returns {BlockStep[]} */
const feedForwardSteps = (name, text) => [
  {
    name: 'Feed-forward', formula: 'max(0, x W₁ + b₁) W₂ + b₂', code: '`FeedForward` in model/transformer/layers.py',
    text: text.made,
    stages: [[`${name}.before`, 'x W₁ + b₁'], [`${name}.after`, 'After ReLU'], [`${name}.output`, 'Times W₂, + b₂']],
    weights: [[`${name}.first_weights`, 'W₁'], [`${name}.first_bias`, 'b₁'], [`${name}.second_weights`, 'W₂']],
  },
  {
    name: 'Add and norm', formula: 'LayerNorm(x + FeedForward(x))', code: '`Block._add` in model/transformer/layers.py',
    text: text.added,
    stages: [[`${name}.added`, 'After add'], [`${name}.spread`, 'Of each row'], [`${name}.normed`, 'After norm']],
  },
];

/** @returns {BlockStep[]} */
const embeddingSteps = (side, text) => [
  {
    name: 'Words become vectors', formula: 'E[id] · √6', code: '`Transformer._embed`',
    text: text.embeddings, stages: [[`${side}.embeddings`, 'Embeddings']],
  },
  {
    name: 'Positions are added', formula: 'PE(pos, 2i) = sin({pos / 10000^(2i/6)}),  PE(pos, 2i+1) = cos({pos / 10000^(2i/6)})',
    code: '`sinusoids` in model/transformer/positions.py', text: text.positions,
    stages: [[`${side}.positions`, 'Positions'], [`${side}.input`, 'Sum x']],
  },
];

/** @type {{title: string, open: boolean, steps: BlockStep[]}[]} */
export const PARTS = [
  {
    title: 'The encoder: words in', open: true,
    steps: embeddingSteps('encoder', {
      embeddings: 'Every word has an id, which selects a row of the embedding matrix. The row is multiplied by √6, '
        + 'the square root of its width (Vaswani et al., 2017, section 3.4). The paper gives no reason; a common one '
        + 'is that small embeddings would be drowned out by the positions. The table shows the rows already multiplied by √6. Those of “how”, “are” and “you” come from a '
        + 'lecture; the others are ours, drawn at random. Change any number.',
      positions: 'Attention knows nothing about word order, so every position has a vector of its own that is '
        + 'added to the word’s. Each pair of columns is a wave of one length; here there is room for three.',
    }),
  },
  {
    title: 'The encoder: attention', open: true,
    steps: attentionSteps('encoder.self', {
      given: 'x', looked: 'x', code: 'SelfAttention.qkv_proj',
      text: {
        made: 'Each word asks for something (query), offers something to match (key) and has something to give '
          + '(value). The lecture prints Q, K and V but not the weights behind them: ours are the smallest weights '
          + 'that produce them, found with the pseudo-inverse. With several heads, the six columns are divided '
          + 'among them.',
        scores: 'How well a word’s query fits another word’s key is their dot product. The more numbers a vector '
          + 'has, the larger the dot products, and softmax would pick one word and ignore the rest. So they are '
          + 'divided by √D, where D is the number of columns per head. The encoder needs no mask, but you can turn '
          + 'one on above.',
        weights: 'Softmax takes e to the power of each score and divides by the sum of the row: every weight is '
          + 'positive and each row adds up to 1. Then each word takes that share of every value.',
        joined: 'The heads’ results are put side by side again and mixed by the output weights. The lecture prints '
          + 'only the sum in the next step, so these weights, too, are the smallest that lead there.',
        added: 'The result of attention is added to what was there before (the residual connection). Then each row '
          + 'is shifted and scaled to mean 0 and standard deviation 1 (Ba, Kiros and Hinton, 2016). The lecture '
          + 'speaks of columns, but the means that it prints are those of rows. The deviation divides by 6, not by 5. A '
          + 'learned scale and shift would follow; they start at 1 and 0.',
      },
    }),
  },
  {
    title: 'The encoder: feed-forward', open: true,
    steps: feedForwardSteps('encoder.feed_forward', {
      made: 'Each word on its own: two linear layers, with negative numbers set to zero in between. W₁ and b₁ are '
        + 'the lecture’s, W₂ is ours and b₂ is 0. For the first number of x W₁ + b₁ the lecture prints 1.20, but its '
        + 'own numbers give 1.18. The inner layer is usually four times as wide.',
      added: 'The encoder’s output: one vector for each source word, which the decoder will attend to.',
    }),
  },
  {
    title: 'The decoder: words in', open: false,
    steps: embeddingSteps('decoder', {
      embeddings: 'In training, the decoder reads the correct answer, shifted right by the start token <sos>: at '
        + 'every position it sees only the words before the one it should produce. The matrix E is the same as the encoder’s.',
      positions: 'The same waves as in the encoder.',
    }),
  },
  {
    title: 'The decoder: masked self-attention', open: false,
    steps: attentionSteps('decoder.self', {
      given: 'x', looked: 'x', code: 'SelfAttention.qkv_proj',
      text: {
        made: 'As in the encoder, with weights of its own. Everything the lecture leaves out is drawn at random '
          + 'here.',
        scores: 'All words of the answer are processed at once, so the mask hides from each word what comes after '
          + 'it: −∞ before the softmax becomes 0 after it.',
        weights: 'The first word can only attend to itself.',
        joined: 'As before.',
        added: 'As before.',
      },
    }),
  },
  {
    title: 'The decoder: cross-attention', open: true,
    steps: attentionSteps('decoder.cross', {
      given: 'x', looked: 'encoded', code: 'CrossAttention.project_keys_values', call: 'attention(x, encoded)',
      text: {
        made: 'The queries come from the answer, the keys and values from the encoder’s output. There are as many '
          + 'keys as source words, however long the answer is.',
        scores: 'One row for each word of the answer, one column for each source word; nothing is hidden.',
        weights: 'These are the weights that Translate draws as lines between two sentences.',
        joined: 'As before.',
        added: 'As before.',
      },
    }),
  },
  {
    title: 'The decoder: feed-forward', open: false,
    steps: feedForwardSteps('decoder.feed_forward', {
      made: 'As in the encoder, with weights of its own.',
      added: 'The last vectors: one for each position of the answer.',
    }),
  },
  {
    title: 'Words out: logits, softmax, loss', open: true,
    steps: [
      {
        name: 'Logits', formula: 'x Eᵀ', code: '`EncoderDecoder.forward`',
        text: 'A score for every word: the dot product with its embedding, the same matrix as at the input (Press '
          + 'and Wolf, 2017), here without √6. Padding is never an answer, so it has no score.',
        stages: [['output.logits', 'Logits']], weights: [['output.weights', 'Embeddings transposed, Eᵀ']],
      },
      {
        name: 'Softmax and loss', formula: 'p = softmax(logits),  loss = −ln p(target)',
        code: '`cross_entropy`, as in training/translation.py',
        text: 'At each position, the loss is minus the logarithm of the probability of the correct next word: 0 '
          + 'when the model is sure and right, ln 10 = 2.30 for a guess among ten. This model has not learned '
          + 'anything yet.',
        stages: [['output.probabilities', 'Probabilities'], ['output.losses', 'Loss of each target']],
      },
    ],
  },
];

/** Which numbers can be changed: stages that are a setting of the walk. */
export const EDITABLE = {
  'encoder.self.queries_weights': 'query_weights', 'encoder.self.keys_weights': 'key_weights',
  'encoder.self.values_weights': 'value_weights', 'encoder.feed_forward.first_weights': 'first_weights',
  'encoder.feed_forward.first_bias': 'first_bias',
};
