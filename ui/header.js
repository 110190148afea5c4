/* The first line says what the page is for with the model that is chosen. */
document.addEventListener('attend-model', ({ detail }) => {
  element.querySelector('p > span').textContent = detail.line;
});
