/**
 * Entries on the parts of a network, and how they attend.
 */

/** @satisfies {Record<string, import('../entries.js').Entry>} */
export const NETWORK = {
  'activation': {
    name: 'Activation function',
    text: 'A curve that every number passes through between two matrix multiplications. Without it, the two would be no more '
      + 'than one.',
    formula: 'ReLU(x) = max(0, x),  SiLU(x) = {x / 1 + e⁻ˣ}',
    source: 'GELU and SiLU: Hendrycks and Gimpel (2016)',
    chapter: 'today',
  },
  'activation-patching': {
    name: 'Activation patching',
    text: 'Puts what a part computed for one text into the pass of another that differs in a word. If the first text’s answer '
      + 'comes back, the part carries the difference.',
    source: 'Vig et al. (2020); Meng et al. (2022)',
    chapter: 'inside',
  },
  'alignment': {
    name: 'Alignment',
    text: 'Which words of the source each word of a translation comes from. A translator’s cross-attention shows it roughly.',
    source: 'Brown et al. (1993)',
    chapter: 'why_attention',
  },
  'attention': {
    name: 'Attention',
    text: 'How a token takes in what others say: it weighs all tokens that it may see, and its new vector is the weighted sum of '
      + 'what they give. The weights add up to 1.',
    formula: 'softmax({Q Kᵀ / √d}) V',
    source: 'Bahdanau, Cho and Bengio (2015); in this form: Vaswani et al. (2017)',
    chapter: 'attention',
  },
  'attention-sink': {
    name: 'Attention sink',
    text: 'The first token, where heads often leave the attention that they have no use for: their weights must add up to 1, so '
      + 'they have to go somewhere.',
    source: 'Xiao et al. (2024)',
    chapter: 'sentences',
  },
  'cache': {
    name: 'Key/value cache',
    text: 'The keys and values of all tokens so far, kept in memory so that only the newest token has to be computed at each step.',
    chapter: 'today',
  },
  'context-vector': {
    name: 'Context vector',
    text: 'What attention hands to the decoder for one word: the sum of the encoder’s states, weighted by how well each fits.',
    source: 'Bahdanau, Cho and Bengio (2015)',
    chapter: 'attention',
  },
  'contextual-vector': {
    name: 'Contextual vector',
    text: 'A token’s vector after one or more layers. It has taken in the text around the token, so the same word has a '
      + 'different vector in each sentence.',
    source: 'Peters et al. (2018)',
    chapter: 'context',
  },
  'cross-attention': {
    name: 'Cross-attention',
    text: 'Attention from one text to another: in a translator, the queries come from the translation, the keys and values from '
      + 'the source.',
    chapter: 'attention_by_hand',
  },
  'decoder': {
    name: 'Decoder',
    text: 'The part of a model that writes. Each of its tokens sees itself and what comes before it, and in a translator the '
      + 'source as well. Most chat models have a decoder only.',
    chapter: 'today',
  },
  'encoder': {
    name: 'Encoder',
    text: 'The part of a model that reads. In a transformer, every token sees the whole text, before and after it; the output '
      + 'is one vector for each token.',
    chapter: 'today',
  },
  'encoder-decoder': {
    name: 'Encoder-decoder',
    text: 'A model that reads one text with an encoder and writes another with a decoder, as translators do.',
    source: 'Cho et al. (2014); Sutskever, Vinyals and Le (2014)',
    chapter: 'today',
  },
  'feed-forward': {
    name: 'Feed-forward network',
    text: 'The last part of a layer: two matrix multiplications with an activation function in between, for each token on its '
      + 'own. In large models it holds most of the parameters.',
    formula: 'max(0, x W₁ + b₁) W₂ + b₂',
    source: 'In this form: Vaswani et al. (2017)',
    chapter: 'block',
  },
  'gru': {
    name: 'Recurrent network, GRU',
    text: 'Reads a text word by word and carries one vector, its state, from each word to the next. A GRU has two gates that '
      + 'decide how much of the state to use and to keep.',
    formula: 'h′ = (1 − z) ⊙ n + z ⊙ h',
    source: 'GRU: Cho et al. (2014)',
    chapter: 'why_attention',
  },
  'head': {
    name: 'Head',
    text: 'A layer computes attention several times side by side; each of these is a head, with queries, keys and values of its '
      + 'own. So each can look for something else.',
    source: 'Vaswani et al. (2017)',
    chapter: 'heads',
  },
  'layer': {
    name: 'Layer',
    text: 'One stage of a network, which works on the output of the stage before it. In a transformer, each layer has attention and '
      + 'then a feed-forward network.',
    chapter: 'block',
  },
  'layer-norm': {
    name: 'LayerNorm',
    text: 'Shifts and scales the numbers of a vector to mean 0 and standard deviation 1, then applies a learned scale and shift. '
      + 'It keeps training stable.',
    formula: '{x − mean / deviation} · g + b',
    source: 'Ba, Kiros and Hinton (2016)',
    chapter: 'block',
  },
  'logit-lens': {
    name: 'Logit lens',
    text: 'Reads the vector after an inner layer as if it were the last: what the model would say if it stopped there.',
    source: 'nostalgebraist (2020)',
    chapter: 'inside',
  },
  'mask': {
    name: 'Mask',
    text: 'Hides tokens from others: their scores become −∞ before the softmax, so their weights become 0. A decoder’s mask hides '
      + 'all that comes later.',
    chapter: 'attention_by_hand',
  },
  'parameter': {
    name: 'Parameter',
    text: 'A number that training sets, also called a weight. A model’s size is how many it has. The settings of decoding are '
      + 'called parameters, too.',
    chapter: 'today',
  },
  'position-encoding': {
    name: 'Position encoding',
    text: 'Attention alone ignores order. So the first transformers add to each word’s vector one for its position, made of '
      + 'waves of different lengths.',
    formula: 'sin({pos / 10000^(2i/d)}),  cos({pos / 10000^(2i/d)})',
    source: 'Vaswani et al. (2017)',
    chapter: 'positions',
  },
  'query': {
    name: 'Query, key and value',
    text: 'Three vectors that each token gets in a head: what it asks for, what it can be found by, and what it gives. A token '
      + 'attends to those whose keys fit its query.',
    formula: 'Q = X W_Q,  K = X W_K,  V = X W_V',
    source: 'In this form: Vaswani et al. (2017)',
    chapter: 'attention_by_hand',
  },
  'residual': {
    name: 'Residual connection',
    text: 'What a part computes is added to what went in, so each part only has to learn a change, and gradients reach the '
      + 'lowest layers.',
    formula: 'x + f(x)',
    source: 'He et al. (2016)',
    chapter: 'block',
  },
  'residual-stream': {
    name: 'Residual stream',
    text: 'The vector of a token on its way through the layers. Every part reads it and adds to it, so it is a sum of all that '
      + 'they wrote.',
    source: 'Elhage et al. (2021)',
    chapter: 'inside',
  },
  'rms-norm': {
    name: 'RMSNorm',
    text: 'A simpler LayerNorm: divides a vector by the root mean square of its numbers and leaves the mean alone.',
    formula: '{x / √{mean(x²)}} · g',
    source: 'Zhang and Sennrich (2019)',
    chapter: 'today',
  },
  'rotary-positions': {
    name: 'Rotary positions',
    text: 'Turns each pair of numbers in every query and key by an angle of its own, which grows with the position, so their dot '
      + 'product depends on how far apart the two are.',
    source: 'Su et al. (2021)',
    chapter: 'attention_by_hand',
  },
  'self-attention': {
    name: 'Self-attention',
    text: 'Attention within one text: queries, keys and values all come from its own tokens.',
    chapter: 'attention',
  },
  'softmax': {
    name: 'Softmax',
    text: 'Turns any list of numbers into positive ones that add up to 1. Only differences count: a number larger by 1 gets '
      + 'a share 2.72 times as large.',
    formula: '{e^{zᵢ} / Σⱼ e^{zⱼ}}',
    source: 'The name: Bridle (1990)',
    chapter: 'attention',
  },
  'swiglu': {
    name: 'SwiGLU',
    text: 'A feed-forward network whose inner numbers are the product of two projections, one of them passed through SiLU.',
    formula: '(SiLU(x W) ⊙ x V) W₂',
    source: 'Shazeer (2020)',
    chapter: 'today',
  },
  'transformer': {
    name: 'Transformer',
    text: 'The kind of network behind today’s language models: layers of attention and feed-forward networks, which work on all '
      + 'positions of a text at once.',
    source: 'Vaswani et al. (2017)',
    chapter: 'block',
  },
};
