/**
 * What there is to say of a page; it is text, whatever a model is called.
 */

function draw() {
  element.querySelector('.attend-about').textContent = props.value ?? '';
}

watch('value', draw);
draw();
