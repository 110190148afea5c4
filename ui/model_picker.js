/* What there is to say of the model: what is on its way and how far it is, or how it was loaded; and to the settings,
 * how much it reads and how its tokens are chosen at first. */
const title = element.querySelector('.attend-model-coming');
const bar = element.querySelector('.attend-model-bar');
const said = element.querySelector('.attend-model-said');
const notes = element.querySelector('.attend-model-notes');

function draw() {
  const value = props.value;
  if (!value) return;
  if (title.textContent !== value.title) title.textContent = value.title; // read out once, not with every byte
  said.textContent = value.said;
  bar.hidden = !value.title;
  if (value.share === null) bar.removeAttribute('value');
  else bar.value = value.share;
  notes.replaceChildren(
    ...value.notes.map((note) => {
      const line = document.createElement('li');
      line.textContent = note;
      return line;
    }),
  );
  const { context, way } = value;
  document.dispatchEvent(new CustomEvent('attend-model', { detail: { context, way } }));
}

watch('value', draw);
draw();
