/* The dialog with what can be copied: the settings as a link, as a command and as Python. Opens with every new value.
 * Elements are made and texts copied by ui/views/shared.js. */
const dialog = element.querySelector('dialog');
const body = dialog.querySelector('.at-blocks');

function block({ title, note, text }) {
  const button = make('button', { type: 'button', text: 'Copy', 'aria-label': `Copy: ${title}`,
    onclick: () => copy(text, button) });
  return make('section', {}, make('h3', { text: title }), make('div', { class: 'at-copy' }, button),
    make('pre', { text, tabindex: 0 }), ...(note ? [make('p', { text: note })] : []));
}

function draw() {
  if (!props.value) return;
  const address = new URL(location.href);
  if (props.value.seed >= 0) address.searchParams.set('seed', props.value.seed); // the last run's, to repeat it
  const link = { title: 'Link to these settings', text: address.href, note: 'The conversation stays here.' };
  body.replaceChildren(...[link, ...props.value.blocks].map(block));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

dialog.addEventListener('click', (event) => {
  if (event.target === dialog || event.target.closest('.at-close')) dialog.close();
});
watch('value', draw);
