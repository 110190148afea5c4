/* The dialog with what can be copied: the settings as a link, as a command and as Python. Opens with every new value. */
const dialog = element.querySelector('dialog');
const body = dialog.querySelector('.at-blocks');

function block({ title, note, text }) {
  const box = document.createElement('section');
  const head = document.createElement('h3');
  const copy = document.createElement('button');
  const shown = document.createElement('pre');
  head.textContent = title;
  copy.type = 'button';
  copy.textContent = 'Copy';
  copy.setAttribute('aria-label', `Copy: ${title}`);
  copy.addEventListener('click', async () => {
    getSelection().selectAllChildren(shown);
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      document.execCommand('copy'); // a page without https has no clipboard of its own
    }
    copy.textContent = 'Copied';
  });
  shown.textContent = text;
  shown.tabIndex = 0;
  box.append(head, copy, shown);
  if (note) {
    const line = document.createElement('p');
    line.textContent = note;
    box.append(line);
  }
  return box;
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
