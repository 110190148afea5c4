/**
 * Sentences to look at: whom a word of a real model looks at, head by head, and what a sentence makes of a word.
 *
 * @typedef {{tokens: string[], word: number[], layers: number, heads: number, shares: Uint8Array}} SentenceLook
 *   `shares`: what each head of each layer gives to each token, the token fastest, 255 for all
 * @typedef {[layer: number, head: number]} SentenceHead
 */

chapters.sentences = {
  title: 'Sentences to look at',
  build(root, ask) {
    let now = {};
    const change = (changes) => {
      now = { ...now, ...changes };
      ask(now);
    };
    /** A field that asks when its text is changed. */
    const typed = (key, tag, attributes) => make(tag, {
      ...attributes, onchange: (event) => change({ [key]: event.target.value }),
    });
    const model = make('select', {
      onchange: () => ask({ sentences: now.sentences, meant: now.meant, model: model.value }),
    });
    const fields = {
      sentence: typed('sentence', 'input', { type: 'text', class: 'at-lesson-wide', maxlength: 300 }),
      word: typed('word', 'input', { type: 'text', size: 10, maxlength: 40 }),
      sentences: typed('sentences', 'textarea', { rows: 3, 'aria-label': 'Sentences, one a line' }),
      meant: typed('meant', 'input', { type: 'text', size: 10, maxlength: 40 }),
    };
    const examples = lessonRow();
    const look = sentencesLook();
    const meaning = sentencesMeaning();

    root.append(
      lessonText('What does “it” mean? A reader knows by looking back, and attention is how a model looks. Here a '
        + 'trained model reads a sentence; click a token to see how much each head gives it, and point at a head to '
        + 'see all that it looks at.'),
      lessonRow(lessonField('Model', model), lessonField('Sentence', fields.sentence), lessonField('Word', fields.word),
        lessonButton('Start again', () => ask({}))),
      examples, ...look.nodes,
      lessonText('Most heads look at grammar, at the start or at the word itself; a few find the noun. attend-chat is '
        + 'small and reads from left to right: it chooses its “it” before it has read “tired”. The encoder of '
        + 'attend-translate sees both sides. Where a model looks is not yet why it decides.'),
      lessonPart('One word, several meanings',
        lessonText('“bank” has one embedding, whatever it means. What leaves the last layer has taken in the sentence '
          + 'before it: beside the street, beside the river. The nearer to 1, the more alike the model takes it, and '
          + 'what it would say next may differ as well.'),
        lessonRow(lessonField('Word', fields.meant)), fields.sentences, ...meaning.nodes));
    ask({});

    return (result) => {
      now = { model: result.model, ...Object.fromEntries(Object.keys(fields).map((key) => [key, result[key]])) };
      now.sentences = result.sentences.join('\n');
      Object.entries(fields).forEach(([key, field]) => {
        field.value = now[key];
      });
      model.replaceChildren(...result.models.map((name) =>
        make('option', { value: name, text: name, selected: name === result.model })));
      examples.replaceChildren(...result.examples.map(([name, sentence, word]) =>
        lessonButton(`${sentence} (${word})`, () => change({ model: name, sentence, word }))));
      look.draw(result);
      meaning.draw(result);
    };
  },
};

/** The tokens of the sentence, shaded by how much the word looks at them, and the heads. */
function sentencesLook() {
  /** @type {SentenceLook} */
  let found;
  /** @type {SentenceHead | null} null for the mean of all */
  let head = null;
  let at = -1; // the token whose share of each head the grid shows
  const strip = make('div', {
    class: 'at-said', role: 'group', 'aria-label': 'The tokens, shaded by how much is looked at them',
  });
  const told = make('p', { class: 'at-quiet', role: 'status' });
  const mean = lessonButton('Mean of all heads', () => pick(null));
  const grid = matrixTable({ scale: 'share', onPoint: (place) => place && pick([place.row, place.column]) });

  function pick(place) {
    head = place;
    paint();
  }

  function paint() {
    const { tokens, layers, heads, word } = found;
    const shares = tokens.map((_, token) => sentencesShare(found, token, head));
    const most = Math.max(...shares) || 1;
    [...strip.children].forEach((button, token) => {
      button.style.setProperty('--at-lit', (0.06 * level(shares[token] / most)).toFixed(2));
      button.setAttribute('aria-pressed', String(token === at));
      button.title = percent(shares[token]);
    });
    const spelt = visibleText(word.map((token) => tokens[token]).join(''));
    const where = head ? `Layer ${head[0] + 1}, head ${head[1] + 1}` : 'The mean of all heads';
    told.textContent = `${where}: from “${spelt}” to “${visibleText(tokens[at])}” goes ${percent(shares[at])}.`;
    mean.disabled = !head;
    const [rows, columns] = [layers, heads].map((count) => Array.from({ length: count }, (_, place) => place));
    grid.update(rows.map((layer) => columns.map((one) => sentencesShare(found, at, [layer, one]))), {
      caption: `Each head’s share for “${visibleText(tokens[at])}”`,
      rowNames: rows.map((layer) => `layer ${layer + 1}`), columnNames: columns.map((one) => String(one + 1)),
    });
  }

  function draw(result) {
    const shares = Uint8Array.from(atob(result.look.weights), (character) => character.charCodeAt(0));
    found = { ...result.look, shares };
    strip.replaceChildren(...found.tokens.map((token, place) => make('button', {
      type: 'button', class: found.word.includes(place) ? 'at-said-word' : null, 'aria-pressed': 'false',
      onclick: () => {
        at = place;
        paint();
      },
    }, tokenChip(token, true))));
    const example = found.tokens.findIndex((token) => token.trim() === result.at);
    [at, head] = example < 0 ? [found.word[0], null] : [example, sentencesBest(found, example)];
    paint();
  }

  return { nodes: [strip, told, lessonRow(mean), grid.node], draw };
}

/** One word in several sentences: how alike it is, and what would follow. */
function sentencesMeaning() {
  const said = make('p', { class: 'at-lesson-text' });
  const likeness = matrixTable({ scale: 'share' });
  const following = make('ol', { class: 'at-following' });

  function draw({ reader, meant, sentences, cosines, following: follows }) {
    said.textContent = reader ? '' : 'No model here continues texts: choose attend-chat in the settings.';
    likeness.node.hidden = !reader;
    const names = sentences.map((_, place) => String(place + 1));
    const caption = `“${meant}” in ${reader}: cosine similarities`;
    if (reader) likeness.update(cosines, { caption, rowNames: names, columnNames: names });
    following.replaceChildren(...follows.map((tokens, place) => make('li', {}, `${sentences[place].slice(0, 80)} … `,
      ...tokens.flatMap(([token, share]) => [tokenChip(token), ` ${percent(share)}  `]))));
  }

  return { nodes: [said, make('div', { class: 'at-two' }, likeness.node, following)], draw };
}

/**
 * How much of the word's attention goes to a token, in one head or in the mean.
 * @param {SentenceLook} look @param {number} token @param {SentenceHead | null} head
 */
function sentencesShare({ layers, heads, tokens, shares }, token, head) {
  const of = (number) => shares[number * tokens.length + token] / 255;
  if (head) return of(head[0] * heads + head[1]);
  const all = Array.from({ length: layers * heads }, (_, number) => of(number));
  return all.reduce((sum, one) => sum + one, 0) / all.length;
}

/** The head that gives a token the most. @param {SentenceLook} look @param {number} token @returns {SentenceHead} */
function sentencesBest({ layers, heads, tokens, shares }, token) {
  const of = (number) => shares[number * tokens.length + token];
  const all = Array.from({ length: layers * heads }, (_, number) => number);
  const best = all.reduce((one, other) => (of(other) > of(one) ? other : one), 0);
  return [Math.floor(best / heads), best % heads];
}
