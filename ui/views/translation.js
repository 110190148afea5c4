/**
 * What a translator wrote: one text made of clickable tokens, and examples while there is none.
 *
 * Events: 'token' (the inspector shows another run, or none) and 'example'.
 *
 * @typedef {{answer: {text: string, tokens: [string, number][] | null, run: string | null, state: string,
 *   note: string | null} | null, examples: string[], busy: boolean}} Value
 */

const root = element.querySelector('.attend-translation');
const body = makeAnswer(0);
const note = make('p', { class: 'at-note', role: 'status' });
const copyButton = iconButton('copy', 'Copy the translation', () => copy(body.node.textContent, copyButton));
const said = make('div', { class: 'at-translated', role: 'region', 'aria-label': 'Translation' },
  body.node, make('div', { class: 'at-translated-tools' }, copyButton));

followColour(root);
offerTokens(root, (_, index) => trigger('token', { index }));
watch('value', draw);
draw();

function draw() {
  if (!props.value) return;
  const { answer, examples, busy } = /** @type {Value} */ (unpacked(props.value));
  if (!answer) return root.replaceChildren(empty(examples, busy));
  if (!said.isConnected) root.replaceChildren(said, note);
  body.show(answer);
  said.setAttribute('aria-busy', String(busy));
  copyButton.hidden = answer.state === 'streaming';
  note.textContent = [answer.state === 'stopped' ? 'stopped' : '', answer.note || ''].filter(Boolean).join(' · ');
}

/** @param {string[]} examples @param {boolean} busy */
function empty(examples, busy) {
  const chips = examples.map((text) => make('button', {
    type: 'button', class: 'at-example', dir: 'auto', disabled: busy, text, onclick: () => trigger('example', { text }),
  }));
  return make('div', { class: 'at-empty' },
    make('p', { class: 'at-empty-title', text: 'Type a sentence, and watch it being translated.' }),
    make('p', {
      class: 'at-quiet', text: 'Each token of the translation can be clicked, and lines show which words it came from.',
    }),
    make('div', { class: 'at-examples' }, ...chips));
}
