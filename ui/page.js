/* Runs once when the page has loaded: the header's buttons, and the settings open where there is room for them. */
() => {
  const toggle = () => document.querySelector('#attend-settings .toggle-button')?.click();
  document.querySelector('#attend-open-settings')?.addEventListener('click', toggle);
  document.querySelector('#attend-api')?.addEventListener('click', () => document.querySelector('footer .show-api')?.click());
  document.querySelector('#attend-theme')?.addEventListener('click', () => document.body.classList.toggle('dark'));
  if (window.innerWidth > 1000) toggle();
}
