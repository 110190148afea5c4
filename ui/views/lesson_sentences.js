/**
 * Sentences to look at: whom a word of a real model looks at, head by head, and what a sentence makes of a word.
 */

chapters.sentences = {
  title: 'Sentences to look at',
  build(root, ask) {
    let now = {};
    let found = null; // the answer's `look`, with its weights as shares
    let head = null; // [layer, head], or null for the mean of all
    let at = -1; // the token whose share of each head the grid shows
    const change = (changes) => {
      now = { ...now, ...changes };
      ask(now);
    };
    const typed = (key, attributes) => make('input', {
      type: 'text', ...attributes, onchange: (event) => change({ [key]: event.target.value }),
    });
    const model = make('select', { onchange: () => ask({ sentences: now.sentences, meant: now.meant, model: model.value }) });
    const sentence = typed('sentence', { class: 'at-lesson-wide', maxlength: 300 });
    const word = typed('word', { size: 10, maxlength: 40 });
    const examples = make('div', { class: 'at-lesson-row' });
    const strip = make('div', { class: 'at-said', role: 'group', 'aria-label': 'The tokens, shaded by how much is looked at them' });
    const told = make('p', { class: 'at-quiet', role: 'status' });
    const mean = make('button', { type: 'button', class: 'at-plain', text: 'Mean of all heads', onclick: () => pick(null) });
    const grid = matrixTable({
      caption: '', rows: [[0]], rowNames: [''], columnNames: [''], scale: 'share',
      onPoint: (place) => place && pick([place.row, place.column]),
    });
    const sentences = make('textarea', { rows: 3, 'aria-label': 'Sentences, one a line', onchange: () => change({ sentences: sentences.value }) });
    const meant = typed('meant', { size: 10, maxlength: 40 });
    const likeness = matrixTable({ caption: '', rows: [[0]], rowNames: [''], columnNames: [''], scale: 'share' });
    const following = make('ol', { class: 'at-following' });
    const said = make('p', { class: 'at-lesson-text' });
    const again = make('button', { type: 'button', class: 'at-plain', text: 'Start again', onclick: () => ask({}) });

    root.append(
      lessonText('What does “it” mean? A reader knows by looking back, and attention is how a model looks. Here a trained model '
        + 'reads a sentence; click a token to see how much each head gives it, and point at a head to see all that it looks at.'),
      make('div', { class: 'at-lesson-row' }, lessonField('Model', model), lessonField('Sentence', sentence), lessonField('Word', word), again),
      examples, strip, told, make('div', { class: 'at-lesson-row' }, mean), grid.node,
      lessonText('Most heads look at grammar, at the start or at the word itself; a few find the noun. attend-chat is small '
        + 'and reads from left to right: it chooses its “it” before it has read “tired”. The encoder of '
        + 'attend-translate sees both sides. Where a model looks is not yet why it decides.'),
      lessonPart('One word, several meanings',
        lessonText('“bank” has one embedding, whatever it means. What leaves the last layer has taken in the sentence before it: '
          + 'beside the street, beside the river. The nearer to 1, the more alike the model takes it, and what it would say next '
          + 'may differ as well.'),
        make('div', { class: 'at-lesson-row' }, lessonField('Word', meant)), sentences, said,
        make('div', { class: 'at-two' }, likeness.node, following)));
    ask({});

    function pick(place) {
      head = place;
      draw();
    }

    /** How much of the word's attention goes to a token, in one head or in the mean. */
    function share(token, place) {
      const count = found.layers * found.heads;
      const of = (number) => found.shares[number * found.tokens.length + token] / 255;
      if (place) return of(place[0] * found.heads + place[1]);
      return Array.from({ length: count }, (_, number) => of(number)).reduce((sum, one) => sum + one, 0) / count;
    }

    function draw() {
      const { tokens, layers, heads, word: own } = found;
      const shares = tokens.map((_, token) => share(token, head));
      const most = Math.max(...shares) || 1;
      [...strip.children].forEach((button, token) => {
        button.dataset.look = String(level(shares[token] / most));
        button.setAttribute('aria-pressed', String(token === at));
        button.title = percent(shares[token]);
      });
      const spelt = own.map((token) => tokens[token]).join('');
      const where = head ? `Layer ${head[0] + 1}, head ${head[1] + 1}` : 'The mean of all heads';
      told.textContent = `${where}: from “${visibleText(spelt)}” to “${visibleText(tokens[at])}” goes ${percent(shares[at])}.`;
      mean.disabled = !head;
      grid.update(Array.from({ length: layers }, (_, layer) => Array.from({ length: heads }, (_, one) => share(at, [layer, one]))), {
        caption: `Each head’s share for “${visibleText(tokens[at])}”`,
        rowNames: Array.from({ length: layers }, (_, layer) => `layer ${layer + 1}`),
        columnNames: Array.from({ length: heads }, (_, one) => String(one + 1)),
      });
    }

    return (result) => {
      now = { model: result.model, sentence: result.sentence, word: result.word, sentences: result.sentences.join('\n'), meant: result.meant };
      model.replaceChildren(...result.models.map((name) => make('option', { value: name, text: name, selected: name === result.model })));
      sentence.value = now.sentence;
      word.value = now.word;
      sentences.value = now.sentences;
      meant.value = now.meant;
      examples.replaceChildren(...result.examples.map(([name, text, one]) => make('button', {
        type: 'button', class: 'at-plain', text: `${text} (${one})`, onclick: () => change({ model: name, sentence: text, word: one }),
      })));
      found = { ...result.look, shares: Uint8Array.from(atob(result.look.weights), (character) => character.charCodeAt(0)) };
      head = null;
      strip.replaceChildren(...found.tokens.map((token, place) => make('button', {
        type: 'button', class: found.word.includes(place) ? 'at-said-word' : null, 'aria-pressed': 'false', onclick: () => {
          at = place;
          draw();
        },
      }, tokenChip(token, true))));
      at = found.tokens.findIndex((token) => token.trim() === result.at);
      if (at < 0) at = found.word[0];
      else head = sentencesBest(found, at);
      draw();
      const names = result.sentences.map((_, place) => String(place + 1));
      likeness.node.hidden = !result.reader;
      if (result.reader) likeness.update(result.cosines, { caption: `“${result.meant}” in ${result.reader}: cosine similarities`, rowNames: names, columnNames: names });
      said.textContent = result.reader ? '' : 'No model here continues texts: choose attend-chat in the settings.';
      following.replaceChildren(...result.following.map((tokens, place) => make('li', {},
        `${result.sentences[place].slice(0, 80)} … `, ...tokens.flatMap(([token, one]) => [tokenChip(token), ` ${percent(one)}  `]))));
    };
  },
};

/** The head that gives a token the most. @returns {[number, number]} layer and head */
function sentencesBest({ layers, heads, tokens, shares }, token) {
  const of = (number) => shares[number * tokens.length + token];
  const best = Array.from({ length: layers * heads }, (_, number) => number).reduce((one, other) => (of(other) > of(one) ? other : one), 0);
  return [Math.floor(best / heads), best % heads];
}
