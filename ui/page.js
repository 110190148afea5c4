/* Runs once when the page has loaded: the header's buttons, the settings where there is room for them, and typing. */
() => {
  const find = (selector) => document.querySelector(selector);
  const toggleSettings = () => find('#attend-settings .toggle-button')?.click();
  find('#attend-open-settings')?.addEventListener('click', toggleSettings);
  find('#attend-api')?.addEventListener('click', () => find('footer .show-api')?.click());
  find('#attend-theme')?.addEventListener('click', () => document.body.classList.toggle('dark'));
  if (window.innerWidth > 1000) toggleSettings();

  // Gradio's text box tells of typing at `keypress`, which pasting, deleting and phones' keyboards do not send.
  let pressed = false;
  const isText = (event) => event.target.matches?.('#attend-text textarea');
  document.addEventListener('keypress', (event) => {
    if (isText(event) && event.isTrusted) pressed = true;
  }, true);
  document.addEventListener('input', (event) => {
    if (isText(event) && !pressed) event.target.dispatchEvent(new KeyboardEvent('keypress', { bubbles: true }));
    pressed = false;
  });
}
