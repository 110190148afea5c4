/* What there is to say of the model: what is on its way and how far it is, or how it was loaded; and to the settings,
 * how much it reads and how its tokens are chosen at first; and to the header, what the page is for with it. */
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
  title.dataset.there = value.title ? '' : value.name; // the list shows a choice before the server has heard of it
  if (value.share === null) bar.removeAttribute('value');
  else bar.value = value.share;
  notes.replaceChildren(
    ...value.notes.map((note) => {
      const line = document.createElement('li');
      line.textContent = note;
      return line;
    }),
  );
  const { context, way, line } = value;
  document.dispatchEvent(new CustomEvent('attend-model', { detail: { context, way, line } }));
}

/* The list cuts long names short; pointing at one shows it whole. */
document.addEventListener('pointerover', ({ target }) => {
  const shown = target.closest?.('#attend-model :is(input, [role="option"])');
  const { names, name } = props.value;
  if (shown) shown.title = names[shown.dataset.index] || name;
});

watch('value', draw);
draw();
